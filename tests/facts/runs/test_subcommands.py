"""Subcommands of argparse, of which the words of a run name one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch

def run_pretrain(args):
    with torch.autocast("cuda", enabled=args.amp):
        fit()

def run_sft(args):
    with torch.autocast("cuda", enabled=args.amp):
        fit()

parser = argparse.ArgumentParser()
parser.add_argument("--log", "-l", default="")
parser.add_argument("--verbose", action="store_true")
parser.add_argument("--gpus", nargs="*")
subs = parser.add_subparsers(dest="command")
for_pretrain = subs.add_parser("pretrain")
for_pretrain.add_argument("--amp", action="store_true")
for_sft = subs.add_parser("sft", aliases=["tune"])
for_sft.add_argument("--amp", action="store_true")
args = parser.parse_args()
"""
BRANCHES = """\
if args.command == "pretrain":
    run_pretrain(args)
elif args.command in ("sft", "tune"):
    run_sft(args)
"""
TABLE = """\
COMMANDS = {"pretrain": run_pretrain, "sft": run_sft, "tune": run_sft}
COMMANDS[args.command](args)
"""
GET = TABLE.replace("COMMANDS[args.command]", "COMMANDS.get(args.command)")
MATCH = """\
match args.command:
    case "pretrain":
        run_pretrain(args)
    case "sft" | "tune":
        run_sft(args)
    case _:
        parser.print_help()
"""
OF_PRETRAIN, OF_SFT = "(autocast, train.py:5", "(autocast, train.py:9"


def _shown(tmp_path: Path, program: str, words: str) -> tuple[bool, bool]:
    """Whether the regions of the two subcommands are shown."""
    files = {"train.py": program, "run.sh": f"python train.py {words}\n"}
    found = explained(tmp_path, files, "run.sh")
    return OF_PRETRAIN in found, OF_SFT in found


@pytest.mark.parametrize("choosing", [BRANCHES, TABLE, GET, MATCH])
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("sft --amp", (False, True)),
        ("pretrain --amp", (True, False)),
        ("tune --amp", (False, True)),
        ("--log run.txt --verbose sft --amp", (False, True)),
        ("-l pretrain --log=pretrain sft --amp", (False, True)),
        ('--log "$LOG" sft --amp', (False, True)),
    ],
)
def test_the_subcommand_that_words_name_runs(
    choosing: str, words: str, shown: tuple[bool, bool], tmp_path: Path
) -> None:
    assert _shown(tmp_path, PROGRAM + choosing, words) == shown


NOT_KNOWN = [
    "$1 --amp",
    "$OPTIONS sft --amp",
    "--log $LOG sft --amp",  # may be no word, or several
    "--gpus sft --amp",  # may be its value
    "--verb sft --amp",  # a short form of an option
    "report --amp",
]
CHANGED = [
    ('parser.add_argument("--gpus", nargs="*")', 'parser.add_argument("kind")'),
    ('dest="command"', 'dest="kind"'),
    ("ArgumentParser()", "ArgumentParser(parents=[common])"),
    ("parser = argparse.ArgumentParser()", "parser = make_parser()"),
    ("args = parser", 'for_sft.set_defaults(command="pretrain")\nargs = parser'),
    ("args = parser", 'for_sft.add_argument("--command")\nargs = parser'),
    ("args = parser", 'other = for_sft.add_subparsers(dest="command")\nargs = parser'),
]


@pytest.mark.parametrize("words", NOT_KNOWN)
@pytest.mark.parametrize("choosing", [BRANCHES, TABLE])
def test_a_subcommand_is_not_guessed(choosing: str, words: str, tmp_path: Path) -> None:
    assert _shown(tmp_path, PROGRAM + choosing, words)[0]


@pytest.mark.parametrize(("before", "after"), CHANGED)
@pytest.mark.parametrize("choosing", [BRANCHES, TABLE])
def test_another_parser_may_read_the_word(
    choosing: str, before: str, after: str, tmp_path: Path
) -> None:
    assert before in PROGRAM
    program = PROGRAM.replace(before, after) + choosing
    assert _shown(tmp_path, program, "sft --amp")[0]


@pytest.mark.parametrize(
    "more",
    [
        "for run in COMMANDS.values():\n    run(args)\n",
        "start(COMMANDS)\n",
        'COMMANDS["pretrain"](args)\n',
        "COMMANDS[chosen()](args)\n",
    ],
)
def test_other_uses_of_a_table_may_take_any_entry(more: str, tmp_path: Path) -> None:
    assert _shown(tmp_path, PROGRAM + TABLE + more, "sft --amp")[0]
