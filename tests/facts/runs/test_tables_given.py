"""Tables that a program makes and fills, and that a framework gets as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import deepspeed

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--half-precision", action="store_true")
    parser.add_argument("--loss-scale-window", type=int, default=500)
    args = parser.parse_args()
    settings = {{"train_batch_size": 8}}
    {}
    engine, *_ = deepspeed.initialize(model=model, {}=settings)

if __name__ == "__main__":
    main()
"""
FLOOR = "500 by default (argument of deepspeed.initialize(config={fp16.loss_scale_window})"


@pytest.mark.parametrize(
    "put",
    [
        'settings["fp16"] = {"enabled": True, "loss_scale_window": args.loss_scale_window}',
        'settings["fp16"]["loss_scale_window"] = args.loss_scale_window',
        'floor = args.loss_scale_window\n    settings["fp16"] = {"loss_scale_window": floor}',
        'inner = {"loss_scale_window": args.loss_scale_window}\n    settings["fp16"] = inner',
        'settings = {"fp16": {"loss_scale_window": args.loss_scale_window}}',
    ],
)
def test_an_entry_of_a_table(put: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PROGRAM.format(put, "config")})
    assert FLOOR in out


def test_a_table_that_a_function_returns(tmp_path: Path) -> None:
    made = (
        'def made(args):\n    return {"fp16": {"loss_scale_window": args.loss_scale_window}}\n\n\n'
        "def main():"
    )
    program = PROGRAM.format("settings = made(args)", "config").replace("def main():", made)
    assert FLOOR in explained(tmp_path, {"train.py": program})


def test_a_switch_that_puts_a_section_into_the_table(tmp_path: Path) -> None:
    put = 'if args.half_precision:\n        settings["fp16"] = {"enabled": True}'
    out = explained(tmp_path, {"train.py": PROGRAM.format(put, "config")})
    assert "by default (argument of deepspeed.initialize(config={fp16}), train.py:11" in out
    assert "not understood: half_precision" not in out


def test_an_entry_that_depends_on_a_condition_says_so(tmp_path: Path) -> None:
    put = 'if mode():\n        settings["fp16"] = {"loss_scale_window": args.loss_scale_window}'
    out = explained(tmp_path, {"train.py": PROGRAM.format(put, "config")})
    assert f"{FLOOR}, train.py:11, only if mode()" in out


@pytest.mark.parametrize(
    ("put", "argument"),
    [
        ('settings["fp16"] = {"loss_scale_window": args.loss_scale_window}', "extra"),
        ('settings["fp15"] = {"loss_scale_window": args.loss_scale_window}', "config"),
        ('other = {}\n    other["fp16"] = {"loss_scale_window": args.loss_scale_window}', "config"),
        ('other = {"fp16": {"loss_scale_window": args.loss_scale_window}}', "config"),
        ('settings[key] = {"loss_scale_window": args.loss_scale_window}', "config"),
        ('settings["notes"] = {"floor": args.loss_scale_window}', "config"),
    ],
)
def test_what_is_no_key_or_goes_elsewhere(put: str, argument: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PROGRAM.format(put, argument)})
    assert "loss_scale_window})" not in out


def test_a_table_of_another_library(tmp_path: Path) -> None:
    put = 'settings["fp16"] = {"loss_scale_window": args.loss_scale_window}'
    program = PROGRAM.format(put, "config").replace("deepspeed.initialize", "engines.start")
    assert "loss_scale_window})" not in explained(tmp_path, {"train.py": program})
