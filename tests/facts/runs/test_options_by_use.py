"""Options that are about precision by what the program has them for, or that nothing calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch
from transformers import AutoModelForCausalLM

def main():
    parser = argparse.ArgumentParser()
    {declared}
    args = parser.parse_args()
    {used}

if __name__ == "__main__":
    main()
"""
SMALL = 'parser.add_argument("--small", action="store_true")'
EIGHT = 'parser.add_argument("--use_8bit", action="store_true")'
LOADED = 'AutoModelForCausalLM.from_pretrained("m", {})'
DECLARING = """\
import argparse

class EngineArgs{bases}:
    {decorator}
    def add_engine_args({parameters}):
        parser.add_argument("--dtype", default="auto")
        return parser
"""


@pytest.mark.parametrize(
    ("declared", "used", "shown"),
    [
        (EIGHT, LOADED.format("load_in_8bit=args.use_8bit"), "off by default (8-bit weights"),
        (SMALL, LOADED.format("load_in_8bit=args.small"), "off by default (8-bit weights"),
        (
            SMALL,
            LOADED.format("torch_dtype=torch.float16 if args.small else torch.float32"),
            "float32 by default (weights",
        ),
        (
            'parser.add_argument("--fast", action="store_true")',
            'with torch.autocast("cuda", enabled=args.fast):\n        print(1)',
            "off by default (autocast",
        ),
    ],
)
def test_an_option_of_any_name(declared: str, used: str, shown: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PROGRAM.format(declared=declared, used=used)})
    assert shown in out


@pytest.mark.parametrize("option", ["--use_8bit", "--qlora", "--load-int8"])
def test_an_option_that_nothing_reads(option: str, tmp_path: Path) -> None:
    declared = f'parser.add_argument("{option}", action="store_true")'
    out = explained(tmp_path, {"train.py": PROGRAM.format(declared=declared, used="print(1)")})
    assert "nothing reads it (option, train.py:7)" in out


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        (SMALL, LOADED.format("device=args.small")),
        (SMALL, LOADED.format("load_in_8bit=other.size.small")),
        (SMALL, "build(enabled=args.small)"),
        (SMALL, "resume(path, loss_scaler=None if args.small else scaler)"),
        (SMALL, "resume(path, dtype=other() if args.small else None)"),
        ('parser.add_argument("--bits", default=64)', "print(args.bits)"),
        ('parser.add_argument("--quantization-loss", default=0.5)', "print(args)"),
    ],
)
def test_an_option_of_something_else(declared: str, used: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PROGRAM.format(declared=declared, used=used)})
    assert "options of the program" not in out
    assert "by default" not in out


def declaring(
    folder: Path, more: str = "", *, bases: str = "", decorator: str = "@staticmethod"
) -> str:
    parameters = "parser" if decorator else "self, parser"
    text = DECLARING.format(bases=bases, decorator=decorator, parameters=parameters)
    return explained(folder, {"engine/args.py": text.replace("    \n", ""), "main.py": more})


@pytest.mark.parametrize("decorator", ["@staticmethod", ""])
def test_options_of_a_parser_that_nothing_makes(decorator: str, tmp_path: Path) -> None:
    out = declaring(tmp_path, decorator=decorator)
    assert 'not read in the project: "--dtype" (engine/args.py:6)' in out.replace(":5)", ":6)")
    assert "nothing calls add_engine_args, which declares it" in out


@pytest.mark.parametrize(
    ("more", "bases", "decorator"),
    [
        (
            "from engine.args import EngineArgs\nEngineArgs.add_engine_args(p)\n",
            "",
            "@staticmethod",
        ),
        ("names = ['add_engine_args']\n", "", "@staticmethod"),
        ("", "(Base)", "@staticmethod"),
        ("", "", "@registered"),
    ],
)
def test_options_that_something_may_make(
    more: str, bases: str, decorator: str, tmp_path: Path
) -> None:
    assert "nothing calls" not in declaring(tmp_path, more, bases=bases, decorator=decorator)
