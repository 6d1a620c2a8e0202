"""Commands of pages that start programs of the project, where a folder is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained, project, run

PROGRAM = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="float32")
args = parser.parse_args()
torch.set_default_dtype(getattr(torch, args.dtype))
"""
COMMAND = "python train.py --dtype bfloat16"


def said(page: str, folder: Path, name: str = "README.md") -> str:
    return explained(folder, {"train.py": PROGRAM, name: page})


@pytest.mark.parametrize("name", ["README.md", "docs/training.md"])
def test_a_command_in_a_fence(name: str, tmp_path: Path) -> None:
    out = said(f"# A\n\n```bash\n{COMMAND}\n```\n", tmp_path, name)
    assert f"{name}:4: PyTorch, started as train.py\n" in out
    assert "bfloat16 (default dtype, train.py:7)" in out


def test_an_option_that_is_not_understood(tmp_path: Path) -> None:
    out = said("```bash\npython train.py --fp8_format e4m3\n```\n", tmp_path)
    assert "README.md:2" in out
    assert "--fp8_format e4m3" in out


@pytest.mark.parametrize(
    "page",
    [
        "```bash\npython other.py --dtype bfloat16\n```\n",  # no program of the project
        "```bash\npython -m pip install torch --dtype bfloat16\n```\n",
        "```yaml\ndtype: bfloat16\nseed: 1\n```\n",
        "Use `--dtype bfloat16` with `train.py`.\n",
        "```python\nmodel.to(torch.bfloat16)  # in train.py\n```\n",
    ],
)
def test_other_texts_are_not_read(page: str, tmp_path: Path) -> None:
    assert "README.md" not in said(page, tmp_path)


def test_a_page_where_only_a_file_is_asked_for(tmp_path: Path) -> None:
    files = {"train.py": PROGRAM, "README.md": f"```bash\n{COMMAND}\n```\n"}
    out = run("explain-config", "train.py", cwd=project(tmp_path, files)).out
    assert "README.md" not in out


def test_scripts_come_first(tmp_path: Path) -> None:
    page = f"```bash\n{COMMAND}\n```\n"
    out = explained(tmp_path, {"train.py": PROGRAM, "run.sh": COMMAND, "README.md": page})
    assert out.index("run.sh: PyTorch") < out.index("README.md:2: PyTorch")
