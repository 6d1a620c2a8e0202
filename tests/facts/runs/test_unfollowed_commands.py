"""Commands of pages, and of files that are not read as scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="float32")
args = parser.parse_args()
torch.set_default_dtype(getattr(torch, args.dtype))
"""
PAGE = "Run:\n\n```bash\npython {} --dtype {}\n```\n"


def test_a_command_of_markdown_is_a_run(tmp_path: Path) -> None:
    files = {"train.py": PROGRAM, "README.md": PAGE.format("train.py", "bfloat16")}
    setting = {"pyproject.toml": "[tool.precision-lint]\nmarkdown = true\n"}
    for out in (
        explained(tmp_path, files),
        explained(tmp_path, files, "README.md"),
        explained(tmp_path, files | setting),
    ):
        assert "README.md:4: PyTorch, started as train.py" in out
        assert "bfloat16" in out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.bat", "python train.py ^\n  --lr 1 ^\n  --fp16\n"),
        ("run.ps1", "python train.py --fp16\n"),
        ("go.fish", "python train.py --fp16\n"),
        ("train", "#!/usr/bin/env bash\npython train.py --fp16\n"),
        ("Justfile", "train:\n    python train.py --fp16\n"),
        ("usage.rst", "Usage::\n\n    python train.py --fp16\n"),
        ("notes.txt", "torchrun train.py --fp16\n"),
        ("run.sh.example", "python train.py --fp16\n"),
        (".vscode/launch.json", '{"configurations": [{"args": ["--fp16", "--lr", "1"]}]}\n'),
    ],
)
def test_commands_of_other_files_are_listed(name: str, text: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {name: text})
    assert "not understood: --fp16" in out
    assert "commands in such a file are not followed" in out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.bat", "REM python train.py --fp16\n"),
        ("notes.txt", "The option --fp16 is for old GPUs.\n"),
        ("usage.rst", "It has --fp16 and --bf16.\n"),
        ("LICENSE", "python train.py --fp16\n"),
        ("train", "#!/usr/bin/env python\n# python train.py --fp16\n"),
        ("run.ps1", "python train.py --lr 1\n"),
    ],
)
def test_other_texts_are_not(name: str, text: str, tmp_path: Path) -> None:
    assert "--fp16" not in explained(tmp_path, {name: text, "a.sh": "echo hi\n"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "train:\n  grad_scaler: true\n"),
        ("a.yaml", "loss_scale: dynamic\nlr: 1\n"),
        ("a.json", '{"useAmp": true}'),
        ("a.json", '{"allow_tf32": true, "lr": 1}'),
        ("a.yaml.example", "fp16: true\n"),
        ("a.json5", "{\n  fp16: true,\n}\n"),
    ],
)
def test_settings_of_any_form_are_listed(name: str, text: str, tmp_path: Path) -> None:
    assert "not understood" in explained(tmp_path, {name: text})


@pytest.mark.parametrize(
    "text",
    [
        "scaler: standard\nlr: 1\n",
        "grad_scaler: 2.5\n",
        "sampler: random\n",
        "champion: true\n",
    ],
)
def test_other_settings_are_not(text: str, tmp_path: Path) -> None:
    assert "not understood" not in explained(tmp_path, {"a.yaml": text})
