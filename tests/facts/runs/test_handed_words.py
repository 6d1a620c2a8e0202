"""Which launches get what variables of a script hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse
from tool import Engine

parser = argparse.ArgumentParser()
parser.add_argument("--dtype")
parser.add_argument("--no-amp", action="store_true")
args = parser.parse_args()
Engine("m", dtype=args.dtype, amp=not args.no_amp)
"""


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        (
            'ARGS=(--seed 1)\nif [ -n "$1" ]; then\n  ARGS+=(--dtype fp16)\nfi\n'
            'python train.py "${ARGS[@]}"\n',
            ["fp16 (argument of Engine(dtype=), train.py:8)"],
        ),
        (
            'FLAG=""\nif [ "$2" = 1 ]; then\n  FLAG="--no-amp"\nfi\npython train.py $FLAG\n',
            ["true (argument of Engine(amp=), train.py:8)"],
        ),
        (
            'case "$1" in\n  a100) DTYPE=bf16 ;;\n  *) DTYPE=fp16 ;;\nesac\n'
            "python train.py --dtype $DTYPE\n",
            [
                "bf16 (argument of Engine(dtype=), train.py:8)",
                "fp16 (argument of Engine(dtype=), train.py:8)",
            ],
        ),
        (
            'if [ -n "$1" ]; then\n  DTYPE=bf16\nfi\nMORE="--seed 1 --dtype=$DTYPE"\n'
            "python train.py $MORE\n",
            ["bf16 (argument of Engine(dtype=), train.py:8)"],
        ),
        ("if [ $1 ]; then DTYPE=bf16; fi\npython other.py --dtype $DTYPE\n", []),
        ("if [ $1 ]; then DTYPE=bf16; fi\npython train.py --seed 1\n", []),
    ],
)
def test_what_a_branch_gives(script: str, rows: list[str], tmp_path: Path) -> None:
    folder = project(tmp_path, {"run.sh": script, "train.py": PROGRAM})
    out = run("explain-config", cwd=folder).out
    for row in rows:
        assert row in out
    assert (not rows) == ("(argument of" not in out)
