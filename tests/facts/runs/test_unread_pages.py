"""Options in the commands of a document that are not read as commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

REASON = "the text around it is not read as a command"


def explained(tmp_path: Path, page: str) -> str:
    return run("explain-config", "README.md", cwd=project(tmp_path, {"README.md": page})).out


def test_a_command_with_choices_is_listed(tmp_path: Path) -> None:
    command = "python train.py --seed 1 [--other] --dtype bfloat16"
    out = explained(tmp_path, f"# A\n\n```bash\n{command}\n```\n")
    assert f"not understood: --dtype bfloat16 (README.md:4); {REASON}" in out


def test_a_command_that_cannot_be_parsed_is_listed(tmp_path: Path) -> None:
    command = (
        "accelerate launch \\\n  --mixed_precision bf16 \\\n  train.py --task [NAME (e.g. small)]"
    )
    out = explained(tmp_path, f"# A\n\n```bash\n# one\n{command} \\\n  --seed 1\n```\n")
    assert "not understood: --mixed_precision bf16 (README.md:6)" in out


def test_comments_after_the_backslash(tmp_path: Path) -> None:
    lines = (
        "python train.py \\\n  --model small \\  # the model\n  --dtype bfloat16 \\  # or half\n"
    )
    out = explained(tmp_path, f"# A\n\n```bash\n{lines}  --seed 1\n```\n")
    assert "--dtype bfloat16" in out
    assert "README.md:6" in out


def test_what_is_read_is_not_listed_again(tmp_path: Path) -> None:
    page = "```bash\npython train.py --dtype bfloat16\n```\n\n```bash\npython a.py (--fp16\n```\n"
    out = explained(tmp_path, page)
    assert out.count("--dtype bfloat16") == 1
    assert out.count("--fp16") == 1


@pytest.mark.parametrize("text", ["`--dtype` chooses a type.\n", "Use `--fp16` in `train.py`.\n"])
def test_text_is_no_command(text: str, tmp_path: Path) -> None:
    assert "not understood" not in explained(tmp_path, text)
