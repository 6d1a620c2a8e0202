"""Options that branches of a script may add to a command: it may get these, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="fp16")
parser.add_argument("--kind", default="small")
parser.add_argument("--resume", action="store_true")
args = parser.parse_args()
dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}[args.dtype]
if args.kind == "small":
    with torch.autocast("cuda", dtype=dtype):
        fit()
else:
    with torch.autocast("cuda", dtype=dtype, cache_enabled=False):
        fit()
"""
SCRIPT = """\
ARGS=(--log run)
if [ -n "$RESUME" ]; then
  {added}
fi
python train.py --dtype bf16 {words}
"""
SMALL, LARGE = "(autocast, train.py:11", "(autocast, train.py:14"


def _shown(tmp_path: Path, script: str) -> str:
    return explained(tmp_path, {"train.py": PROGRAM, "run.sh": script}, "run.sh")


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ("ARGS+=(--resume)", '"${ARGS[@]}"'),
        ('ARGS+=(--log "$RESUME" --resume)', '"${ARGS[@]}"'),
        ('ARGS+=(--resume)\nfi\nif [ "$A" ]; then\n  ARGS+=(--step 3)', '"${ARGS[@]}"'),
        ('ARGS=("${ARGS[@]}" --resume)', '"${ARGS[@]}"'),
        ('A=1\nfi\nMORE="--log run"\nif [ "$B" ]; then\n  MORE="$MORE --resume"', "$MORE"),
    ],
)
def test_an_option_that_no_branch_adds_has_its_default(
    added: str, words: str, tmp_path: Path
) -> None:
    found = _shown(tmp_path, SCRIPT.format(added=added, words=words))
    assert f"bfloat16 {SMALL})" in found
    assert LARGE not in found


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ("ARGS+=(--kind large)", '"${ARGS[@]}"'),
        ('ARGS+=(--kind "$KIND")', '"${ARGS[@]}"'),
        ("ARGS+=(--kind=$KIND)", '"${ARGS[@]}"'),
        ('ARGS+=("--$NAME" large)', '"${ARGS[@]}"'),
        ('ARGS+=("$OPTION")', '"${ARGS[@]}"'),
        ("ARGS+=($OPTIONS)", '"${ARGS[@]}"'),
        ('ARGS+=("${OTHERS[@]}")', '"${ARGS[@]}"'),
        ("ARGS=(--resume)", '"${ARGS[@]}"'),  # what it had before may be gone
        ("ARGS+=(--resume)", '"${ARGS[@]}" $1'),
        ("ARGS+=(--resume)", '"${ARGS[@]}" "$@"'),
        ("ARGS+=(--log $RESUME)", '"${ARGS[@]}"'),  # may be several words
        ("ARGS+=(-k large)", '"${ARGS[@]}"'),
        ("source more.sh", '"${ARGS[@]}"'),
    ],
)
def test_an_option_that_a_branch_may_add_is_unknown(added: str, words: str, tmp_path: Path) -> None:
    found = _shown(tmp_path, SCRIPT.format(added=added, words=words))
    assert f"bfloat16 {SMALL})" not in found


def test_runs_do_not_share_what_others_may_give(tmp_path: Path) -> None:
    scripts = {
        f"{name}.sh": SCRIPT.format(added=f"ARGS+=({option})", words='"${ARGS[@]}"')
        for name, option in (("a", "--kind large"), ("b", "--resume"), ("c", '"$OPTION"'))
    }
    found = [
        explained(tmp_path, {"train.py": PROGRAM, **scripts}, name) for name in (*scripts, "a.sh")
    ]
    assert [f"bfloat16 {SMALL})" in each for each in found] == [False, True, False, False]
