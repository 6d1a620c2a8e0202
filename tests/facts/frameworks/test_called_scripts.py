"""Scripts that other files start with words, documents among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

TRAIN = """\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="fp32")
parser.add_argument("--lr", type=float)
args = parser.parse_args()
with torch.autocast("cuda", dtype=torch.float16, enabled=args.dtype == "fp16"):
    print(args.lr)
"""
SCRIPT = """\
MODE="${1:-help}"
shift || true
case "$MODE" in
  train)
    exec python train.py --lr 1 "$@"
    ;;
  tune)
    python tune.py "$@"
    ;;
  help|*)
    echo "train or tune"
    ;;
esac
"""
FILES = {"train.py": TRAIN, "tune.py": TRAIN, "run.sh": SCRIPT}
FENCE = "# Use\n\n```bash\n{}\n```\n"


def explained(tmp_path: Path, name: str, text: str) -> str:
    return run("explain-config", name, cwd=project(tmp_path, {**FILES, name: text})).out


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("bash run.sh train --dtype fp16", "autocast, train.py:9"),
        ("bash run.sh train \\\n    --dtype fp16", "autocast, train.py:9"),
        ("./run.sh tune --dtype fp16", "autocast, tune.py:9"),
        ("uv run train.py --dtype fp16", "autocast, train.py:9"),
        ("poetry run python train.py --dtype fp16", "autocast, train.py:9"),
        ("pixi run python -m train --dtype fp16", "autocast, train.py:9"),
    ],
)
@pytest.mark.parametrize("name", ["other.sh", "USE.md"])
def test_what_the_program_does_with_the_words(
    name: str, command: str, expected: str, tmp_path: Path
) -> None:
    out = explained(tmp_path, name, command + "\n" if name == "other.sh" else FENCE.format(command))
    assert expected in out
    assert "--dtype fp16" in out
    assert "not understood" not in out
    other = "tune" if "train" in expected else "train"
    assert f"autocast, {other}.py" not in out


@pytest.mark.parametrize(
    "command",
    [
        "bash run.sh help --dtype fp16",
        "bash run.sh $MODE",
        "bash run.sh",
        "cat run.sh train --dtype fp16",
        "bash gone.sh train --dtype fp16",
    ],
)
def test_no_program_gets_the_words(command: str, tmp_path: Path) -> None:
    out = explained(tmp_path, "USE.md", FENCE.format(command))
    assert "--dtype fp16 (USE.md" in out or "--dtype" not in out
    assert "autocast" not in out


def test_what_a_document_starts_counts_in_the_document_alone(tmp_path: Path) -> None:
    files = {**FILES, "USE.md": FENCE.format("bash run.sh train --dtype fp16")}
    root = project(tmp_path, files)
    assert "fp16" not in run("explain-config", "run.sh", cwd=root).out
    assert "USE.md:4" in run("explain-config", "USE.md", cwd=root).out


def test_a_script_of_the_project_is_named_in_the_reason(tmp_path: Path) -> None:
    out = explained(tmp_path, "USE.md", FENCE.format("bash run.sh other --dtype fp16"))
    assert "--dtype fp16 (USE.md:4); run.sh gets it; what for is not seen" in out
    (gone := tmp_path / "gone").mkdir()
    out = explained(gone, "USE.md", FENCE.format("bash gone.sh other --dtype fp16"))
    assert "--dtype fp16 (USE.md:4); the program is not where the command looks for it" in out
