"""Settings of a program under names that do not say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

MAIN = """\
import argparse
import shared
from train import train

parser = argparse.ArgumentParser()
parser.add_argument("--half_amp", action="store_true")
args = parser.parse_args()
{}
"""
TRAIN = """\
import torch

def train({parameter}):
    with torch.cuda.amp.autocast(enabled={parameter}.half_amp):
        return step()
"""
STEPS = """\
from train import train

def begin(c):
    return train(c)
"""
FOUND = "(autocast, train.py:4)"


def out(body: str, tmp_path: Path, parameter: str = "c") -> str:
    files = {"main.py": MAIN.format(body), "train.py": TRAIN.format(parameter=parameter)}
    others = {"shared.py": "half_kind = None\n", "steps.py": STEPS}
    return explained(tmp_path, files | others, "main.py")


FILLED = "for k, v in {}.items():\n    setattr({}, k, v)\ntrain({})"


@pytest.mark.parametrize(
    "body",
    [
        "train(args)",
        "train(c=args)",
        "from steps import begin\ntrain(args)\nbegin(args)",
        FILLED.format("vars(args)", "c", "c"),
        FILLED.format("args.__dict__", "c", "c"),
        FILLED.format("vars(args)", "c", "shared"),
    ],
)
def test_what_gets_the_settings_holds_them(body: str, tmp_path: Path) -> None:
    assert FOUND in out(body, tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        "train(shared)",
        "train(args)\ntrain(shared)",
        "train(*args)",
        "train(make(args))",
        "print(args)",
        "from steps import begin\ntrain(args)\nbegin(shared)",
        FILLED.format("vars(shared)", "c", "c"),
        FILLED.format("vars(args)", "other", "c"),
        "for k, v in vars(args).items():\n    setattr(c, v, k)\ntrain(c)",
        "for k, v in vars(args).items():\n    print(c, k, v)\ntrain(c)",
    ],
)
def test_what_gets_something_else_does_not(body: str, tmp_path: Path) -> None:
    assert FOUND not in out(body, tmp_path)


@pytest.mark.parametrize("line", ["c = other()", "c = c.inner"])
def test_a_parameter_that_is_bound_again(line: str, tmp_path: Path) -> None:
    code = TRAIN.format(parameter="c").replace("(c):\n    with", f"(c):\n    {line}\n    with", 1)
    files = {"main.py": MAIN.format("train(args)"), "train.py": code}
    assert "(autocast" not in explained(tmp_path, files, "main.py")
