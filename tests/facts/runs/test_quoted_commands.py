"""Commands that quotes make one word of, and the files that only these name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

STARTS_NOTHING = "which starts nothing: its quotes make one name of all words"
ACCELERATE = "distributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_processes: 2\n"
OPTIONS = "import argparse\nparser = argparse.ArgumentParser()\nprint(parser.parse_args())\n"
WORDS = "accelerate launch --config_file conf/two.yaml train.py --lr 1 --half_dtype bf16"


def said(script: str, tmp_path: Path) -> str:
    files = {"conf/two.yaml": ACCELERATE, "train.py": OPTIONS, "run.sh": script}
    return explained(tmp_path, files)


@pytest.mark.parametrize(
    "script",
    [
        f'CMD="{WORDS}"\n"$CMD"\n',
        f'set -e\nexport CMD="{WORDS}"\n"$CMD"\n',
        'START="accelerate launch --config_file conf/two.yaml"\n'
        'CMD="$START train.py --lr 1 --half_dtype bf16"\n"${CMD}"\n',
    ],
)
def test_a_command_in_quotes(script: str, tmp_path: Path) -> None:
    out = said(script, tmp_path)
    row = len(script.splitlines())
    assert f"without effect: only this command names it, {STARTS_NOTHING} (run.sh:{row})" in out
    assert f"only the command in line {row} has it, {STARTS_NOTHING}" in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    "script",
    [
        f'CMD="{WORDS}"\n$CMD\n',
        f'CMD="{WORDS}"\neval "$CMD"\n',
        f'CMD="{WORDS}"\nbash -c "$CMD"\n',
        f'CMD="{WORDS}"\n"$CMD"\nbash other.sh\n$CMD\n',
        f'CMD=({WORDS})\n"${{CMD[@]}}"\n',
        f'export CMD="{WORDS}"\n"$CMD"\nbash other.sh\n',
        f'"$START" {WORDS.partition(" ")[2]}\n',
        f'CMD="/opt/my tools/{WORDS}"\n"$CMD"\n',
    ],
)
def test_a_command_that_may_start(script: str, tmp_path: Path) -> None:
    assert "without effect" not in said(script, tmp_path)


def test_a_file_that_something_else_names(tmp_path: Path) -> None:
    out = said(f'CMD="{WORDS}"\n"$CMD"\ncp conf/two.yaml /tmp\n', tmp_path)
    assert "without effect" not in out
