"""Modules of settings that a program loads from a path of its command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

SETTINGS = """\
class RunConfig:
    width = {width}
    use_amp = {amp}
"""
PROGRAM = """\
import argparse
import importlib.util
import torch
from base import RunConfig

def load(path):
    spec = importlib.util.spec_from_file_location("given", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.RunConfig()

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", default=None)
    args = parser.parse_args()
    config = load(args.settings) if args.settings else RunConfig()
    scaler = torch.amp.GradScaler(enabled=config.use_amp)
    scaler.scale(model(batch)).backward()

if __name__ == "__main__":
    main()
"""
BASE = SETTINGS.format(width=8, amp=True)
WIDE = SETTINGS.format(width=64, amp=False)
FILES = {"base.py": BASE, "runs/wide.py": WIDE, "train.py": PROGRAM}


def test_a_file_that_an_option_may_name(tmp_path: Path) -> None:
    out = explained(tmp_path, FILES)
    assert "base.py: PyTorch, read by train.py\n" in out
    assert "true by default (scaler, train.py:17)" in out
    assert "runs/wide.py: PyTorch, read by train.py if its `--settings` names it" in out
    assert "false by default (scaler, train.py:17)" in out
    assert "runs/wide.py:3  use_amp" in out
    assert "not understood" not in out


def test_the_class_may_be_looked_up_by_its_name(tmp_path: Path) -> None:
    program = PROGRAM.replace("module.RunConfig()", 'getattr(module, "RunConfig")()')
    out = explained(tmp_path, FILES | {"train.py": program})
    assert "read by train.py if its `--settings` names it" in out


@pytest.mark.parametrize(
    "program",
    [
        PROGRAM.replace("module.RunConfig", "module.OtherConfig"),
        PROGRAM.replace("load(args.settings)", "load(FIXED)"),
        PROGRAM.replace("spec_from_file_location", "find_spec"),
    ],
)
def test_what_no_option_may_load_is_listed(program: str, tmp_path: Path) -> None:
    out = explained(tmp_path, FILES | {"train.py": program})
    assert "not understood: use_amp (runs/wide.py:3); no program is seen to make" in out
    assert "names it" not in out


def test_a_command_that_names_the_file_gets_no_values_of_another(tmp_path: Path) -> None:
    program = PROGRAM.replace(
        "GradScaler(enabled=config.use_amp)", "GradScaler(enabled=config.use_amp and args.amp)"
    ).replace("args = p", 'parser.add_argument("--amp", action="store_true")\n    args = p')
    script = "python train.py --settings runs/wide.py --amp\n"
    out = explained(tmp_path, FILES | {"train.py": program, "run.sh": script})
    assert "on (scaler" not in out
    assert "scaler = on" not in out
