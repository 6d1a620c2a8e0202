"""Settings that a function returns together with other values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse
import torch
from transformers import AutoModel

{}

def main(args):
    {}
    model = AutoModel.from_pretrained("m", torch_dtype=kind)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="bfloat16")
    main(tool.parse(parser))
"""
CHOSEN = "def chosen(args):\n    return torch.device('cuda'), getattr(torch, args.dtype)"
MARK = "from_pretrained"


def explained(folder: Path, function: str, line: str) -> str:
    files = {"train.py": PROGRAM.format(function, line)}
    return run("explain-config", ".", cwd=project(folder, files)).out


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (CHOSEN, "device, kind = chosen(args)"),
        (CHOSEN, "(device, kind) = chosen(args)"),
        ("", "steps, kind = args.steps, TABLE[args.dtype]"),
    ],
)
def test_the_value_at_its_place(function: str, line: str, tmp_path: Path) -> None:
    assert "bfloat16 by default" in explained(tmp_path, function, line)


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (CHOSEN, "kind, device = chosen(args)"),
        (CHOSEN, "first, device, kind = chosen(args)"),
        (CHOSEN, "device, *kind = chosen(args)"),
        (CHOSEN, "both = chosen(args)\n    kind = other(both)"),
        ("", "kind, steps = TABLE[0], TABLE[args.dtype]"),
        ("", "kind, steps = unknown(args)"),
    ],
)
def test_a_value_at_another_place(function: str, line: str, tmp_path: Path) -> None:
    assert "(weights" not in explained(tmp_path, function, line)
