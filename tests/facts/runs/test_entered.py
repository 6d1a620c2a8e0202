"""Regions of autocast that a function makes and something else enters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse
import torch
from contextlib import ExitStack, nullcontext

def region(device, use_amp):
    if use_amp and device.type == "cuda":
        return torch.autocast("cuda", dtype=torch.float16)
    return nullcontext()

def other(device, use_amp):
    return lock(use_amp)

def train(device, model, use_amp):
    {}

parser = argparse.ArgumentParser()
parser.add_argument("--use_amp", action="store_true")
args = parser.parse_args()
train(device(), model(), settings(args).use_amp)
"""
FOUND = "(autocast, train.py:7, only if use_amp and device.type == 'cuda')"


def explained(folder: Path, body: str, program: str = PROGRAM) -> str:
    return run("explain-config", ".", cwd=project(folder, {"train.py": program.format(body)})).out


@pytest.mark.parametrize(
    "body",
    [
        "with region(device, use_amp):\n        model()",
        "with torch.no_grad(), region(device, use_amp) as _:\n        model()",
        "entered = region(device, use_amp)\n    with entered:\n        model()",
        "with ExitStack() as stack:\n        stack.enter_context(region(device, use_amp))",
    ],
)
def test_what_is_entered_is_known_where_it_is_made(body: str, tmp_path: Path) -> None:
    assert FOUND in explained(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        "with region(device, use_amp):\n        x = model.switch(use_amp)",
        "with region(device, use_amp):\n        return Plan(use_amp)",
        "with other(device, use_amp):\n        model()",
        "with lock(use_amp):\n        model()",
        "return model.keep(region(device, use_amp))",
        "kept = region(device, use_amp)\n    return model.keep(kept)",
        "kept = other(device, use_amp)\n    with kept:\n        model()",
        "with region(device, False):\n        model()\n    return model.keep(use_amp)",
    ],
)
def test_what_more_is_done_with_it_is_not_known(body: str, tmp_path: Path) -> None:
    assert "(autocast" not in explained(tmp_path, body)


CHOSEN = """\
import argparse
import torch

def train(model, use_amp, kind):
    if use_amp:
        {}
    else:
        {}

parser = argparse.ArgumentParser()
parser.add_argument("--use_amp", action="store_true")
parser.add_argument("--kind", required=True)
args = parser.parse_args()
if args.kind:
    train(model(), settings(args).use_amp, args.kind)
"""
IN_REGION = "with torch.autocast('cuda', dtype=torch.float16):\n            {}"


def chosen(folder: Path, one: str, other: str) -> str:
    return run(
        "explain-config", ".", cwd=project(folder, {"train.py": CHOSEN.format(one, other)})
    ).out


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (IN_REGION.format("out = model(kind)"), "out = model(kind)"),
        (
            IN_REGION.format("out = model(kind)\n            out = out[0]"),
            "out = model(kind)\n        out = out[0]\n    print(out.sum())\n    return keep(out)",
        ),
        ("out = model(kind)\n        return keep(out)", IN_REGION.format("out = model(kind)[0]")),
    ],
)  # fmt: skip
def test_what_both_branches_compute(one: str, other: str, tmp_path: Path) -> None:
    assert "(autocast" in chosen(tmp_path, one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            IN_REGION.format("pass") + "\n        out = plan(kind)",
            "out = plan[kind]\n    return keep(out)",
        ),
        ("out = plan[0]", "out = plan[1]\n    return keep(out)"),
        (IN_REGION.format("out = model(kind)"), "plan = other[kind]\n    return keep(plan)"),
    ],
)  # fmt: skip
def test_what_only_one_branch_computes(one: str, other: str, tmp_path: Path) -> None:
    assert "(autocast" not in chosen(tmp_path, one, other)


NATIVE = """\
import argparse
import torch
{}

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
args = parser.parse_args()
accelerator = Accelerator()
{}
with accelerator.autocast():
    pass
"""
ACCELERATE = "from accelerate import Accelerator"


def native(folder: Path, line: str, imported: str = ACCELERATE) -> str:
    files = {"train.py": NATIVE.format(imported, line)}
    return run("explain-config", ".", cwd=project(folder, files)).out


@pytest.mark.parametrize(
    "line", ["accelerator.native_amp = args.amp", "accelerator.native_amp = not not args.amp"]
)
def test_the_switch_of_an_accelerator(line: str, tmp_path: Path) -> None:
    assert "off by default (autocast, train.py:9)" in native(tmp_path, line)


@pytest.mark.parametrize(
    ("line", "imported"),
    [
        ("accelerator.native_amp = False", ACCELERATE),
        ("accelerator.native = args.amp", ACCELERATE),
        ("engine.native_amp = args.amp", ACCELERATE),
        ("accelerator.native_amp = args.amp", "from own import Accelerator"),
    ],
)
def test_other_members_of_other_objects(line: str, imported: str, tmp_path: Path) -> None:
    assert "(autocast, train.py:9" not in native(tmp_path, line, imported)
