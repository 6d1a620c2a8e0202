"""Options that a program declares and that no run shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse
import torch

parser = argparse.ArgumentParser()
{}
args = parser.parse_args()
torch.set_default_dtype(getattr(torch, args.dtype))
"""
DTYPE = 'parser.add_argument("--dtype", default="bfloat16")'


def explained(tmp_path: Path, files: dict[str, str]) -> str:
    return run("explain-config", ".", cwd=project(tmp_path, files)).out


@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        (DTYPE, 'its default, `"bfloat16"`, is not followed'),
        ('parser.add_argument("--use-amp", action="store_true")', "it is not followed"),
        ('parser.add_argument(\n    "-p", "--precision",\n)', "it is not followed"),
    ],
)
def test_an_option_that_no_command_gives_is_listed(
    declared: str, shown: str, tmp_path: Path
) -> None:
    out = explained(tmp_path, {"train.py": PROGRAM.format(declared)})
    assert "train.py: options of the program" in out
    assert shown in out


def test_so_is_a_field_of_a_class_that_a_parser_fills(tmp_path: Path) -> None:
    text = (
        "from dataclasses import dataclass\n\n@dataclass\nclass ModelArguments:\n"
        "    load_in_4bit: bool = False\n    layers: int = 2\n"
    )
    out = explained(tmp_path, {"arguments.py": text})
    assert "not understood: load_in_4bit (arguments.py:5)" in out
    assert "layers" not in out


@pytest.mark.parametrize(
    "text",
    [
        PROGRAM.format('parser.add_argument("--layers", default=2)'),
        PROGRAM.format('parser.add_argument("--dtype-file", default="a.json")'),
        "class State:\n    half: bool = True\n",
        "from dataclasses import dataclass\n\n@dataclass\nclass Batch:\n    dtype: str = 'bf16'\n",
    ],
)
def test_what_is_no_option_of_precision_is_not(text: str, tmp_path: Path) -> None:
    assert "options of the program" not in explained(tmp_path, {"train.py": text})


def test_a_default_that_a_run_shows_is_not_listed_again(tmp_path: Path) -> None:
    code = "from accelerate import Accelerator\nAccelerator(mixed_precision=args.dtype)\n"
    out = explained(tmp_path, {"train.py": PROGRAM.format(DTYPE) + code})
    assert "mixed_precision = bfloat16  train.py:5" in out
    assert "options of the program" not in out


@pytest.mark.parametrize("name", ["tests/train.py", "benchmarks/train.py"])
def test_programs_of_tests_are_left_out(name: str, tmp_path: Path) -> None:
    assert "options of the program" not in explained(tmp_path, {name: PROGRAM.format(DTYPE)})
