"""Options of one name that several modules declare, each for its own subcommand."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import explained

MODULE = """\
import torch
{more}
def add_parser(subparsers):
    parser = subparsers.add_parser("{name}")
    parser.add_argument("--amp-dtype", default="{default}")
    parser.set_defaults(start=start)

def start(args):
    region(args)

def region(args):
    with torch.autocast("cuda", dtype=getattr(torch, args.amp_dtype)):
        pass
"""
TOOL = """\
import argparse
import evaluate, infer

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers(dest="command")
    evaluate.add_parser(subparsers)
    infer.add_parser(subparsers)
    args = parser.parse_args()
    args.start(args)
"""


def _shown(folder: Path, more: str = "") -> str:
    first = MODULE.format(name="evaluate", default="float16", more=more)
    second = MODULE.format(name="infer", default="bfloat16", more="")
    return explained(folder, {"tool.py": TOOL, "evaluate.py": first, "infer.py": second})


def test_each_module_reads_its_own(tmp_path: Path) -> None:
    out = _shown(tmp_path)
    assert "float16 by default (autocast, evaluate.py:12)" in out
    assert "bfloat16 by default (autocast, infer.py:12)" in out


def test_not_one_that_another_of_them_uses(tmp_path: Path) -> None:
    out = _shown(tmp_path, "import infer")
    assert "(autocast, infer.py:12)" not in out
    assert "not understood" in out
