"""Which of several builders of a program are named: those that it calls, as a command says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

BUILDER = """\
import torch
from transformers import BertModel

def build(args):
    dtype = torch.float32
    if args.precision == "bf16":
        dtype = torch.bfloat16
    return BertModel.from_pretrained("b", torch_dtype=dtype)
"""
PROGRAM = """\
import argparse, yaml
{}

def load(builder, args):
    return builder(args)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="other.yaml")
    parser.add_argument("--use_old", action="store_true")
    known, _ = parser.parse_known_args()
    with open(known.config) as file:
        settings = yaml.safe_load(file)
    for name, value in settings.items():
        parser.add_argument(f"--{{name}}", type=type(value), default=value)
    args = parser.parse_args()
    {}

main()
"""
CHOOSING = """\
if args.use_old:
        from old import build as build_old
        model = build_old(args)
    else:
        model = {}
"""
FILE = "precision: fp32\nlr: 0.1\n"


def places(folder: Path, imports: str, body: str, commands: str) -> list[str]:
    """The places that the weights of `a.yaml` are shown with."""
    files = {
        "a.yaml": FILE,
        "old.py": BUILDER,
        "new.py": BUILDER,
        "run.sh": commands,
        "vis.py": PROGRAM.format(imports, body),
    }
    out = explained(folder, files, "a.yaml")
    return [row.split("BertModel, ")[1].split(")")[0] for row in out.splitlines() if "Bert" in row]


@pytest.mark.parametrize(
    ("more", "body", "shown"),
    [
        ("", "model = build_old(args)", "old.py:8"),
        ("import new", "model = new.build(args)", "new.py:8, one of 2 places"),
        ("", "model = load(build, args)", "new.py:8, one of 2 places"),
        ("", "model = {'new': build}[args.lr](args)", "new.py:8, one of 2 places"),
    ],
)
def test_what_is_imported_and_never_called(
    more: str, body: str, shown: str, tmp_path: Path
) -> None:
    imports = f"from new import build\nfrom old import build as build_old\n{more}"
    body += "\n    model = build_old(args)"
    found = places(tmp_path, imports, body, "python vis.py --config a.yaml\n")
    assert found in ([shown], [shown.split(",")[0]])


@pytest.mark.parametrize("call", ["build(args)", "load(build, args)"])
@pytest.mark.parametrize(
    ("commands", "shown"),
    [
        ("python vis.py --config a.yaml --use_old\n", ["old.py:8"]),
        ("python vis.py --use_old --config a.yaml --lr 0.5\n", ["old.py:8"]),
        ("python vis.py --config a.yaml --lr 0.5\n", ["new.py:8"]),
        ("python vis.py --config b.yaml --use_old\npython vis.py --config a.yaml\n", ["new.py:8"]),
    ],
)
def test_the_branch_that_the_command_takes(
    commands: str, shown: list[str], call: str, tmp_path: Path
) -> None:
    assert places(tmp_path, "from new import build", CHOOSING.format(call), commands) == shown


def test_commands_that_differ_leave_both_branches(tmp_path: Path) -> None:
    commands = "python vis.py --config a.yaml --use_old\npython vis.py --config a.yaml\n"
    found = places(tmp_path, "from new import build", CHOOSING.format("build(args)"), commands)
    assert found == ["new.py:8, one of 2 places"]
