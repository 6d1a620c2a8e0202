"""What says nothing of a setting: conditions that only save or load a state, and checkpoints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch
from apex import amp

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    model, optimizer, checkpoint, saved = make()
    if not optimizer:
        args.amp = False
    if args.amp and has_apex():
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    {}

if __name__ == "__main__":
    main()
"""
SAID = "by default (argument of apex.amp.initialize(), train.py:13"


@pytest.mark.parametrize(
    ("line", "is_said"),
    [
        ('if args.amp: saved["amp"] = amp.state_dict()', True),
        ("if args.amp and resuming: amp.load_state_dict(checkpoint['amp'])", True),
        ("if args.amp:\n        if resuming: amp.load_state_dict(checkpoint['amp'])", True),
        ("if args.amp: print('mixed precision')", True),
        ("other = {'amp': checkpoint['amp']}", True),
        ("kind = restore(checkpoint['amp'])", True),
        ("if args.amp: prepare(model)", False),
        ("kind = restore(options['amp'])", False),
        ("if args.amp: saved['steps'] = count()", False),
    ],
)
def test_what_says_nothing_of_a_setting(line: str, is_said: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PROGRAM.format(line)})
    assert (SAID in out) is is_said
