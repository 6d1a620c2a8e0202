"""Commands of documents, and of files that are not read as scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="float32")
args = parser.parse_args()
torch.set_default_dtype(getattr(torch, args.dtype))
"""
PAGE = "Run:\n\n```bash\npython {} --dtype {}\n```\n"


def explained(tmp_path: Path, files: dict[str, str]) -> str:
    return run("explain-config", ".", cwd=project(tmp_path, files)).out


def test_a_command_of_a_page_is_a_run(tmp_path: Path) -> None:
    files = {"train.py": PROGRAM, "README.md": PAGE.format("train.py", "bfloat16")}
    out = explained(tmp_path, files)
    assert "README.md:4: PyTorch, started as train.py" in out
    assert "bfloat16" in out


def test_a_program_that_is_elsewhere_is_no_run_of_a_framework(tmp_path: Path) -> None:
    words = "--output_dir o --learning_rate 1 --per_device_train_batch_size 1 --bf16 True"
    page = f"```bash\npython train.py {words}\n```\n"
    out = explained(tmp_path, {"README.md": page, "a.py": "import torch\n"})
    assert "Hugging Face Trainer" not in out
    assert "not understood: --bf16 True (README.md:2); the program is not in the project" in out


def test_settings_in_a_page_are_no_run(tmp_path: Path) -> None:
    page = "```yaml\ncompute_environment: LOCAL_MACHINE\nmixed_precision: fp16\n```\n"
    assert "mixed_precision" not in explained(tmp_path, {"README.md": page})


def test_what_pages_say_is_not_reported(tmp_path: Path) -> None:
    yaml = "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nmixed_precision: fp16\n"
    code = "from accelerate import Accelerator\nAccelerator(mixed_precision='bf16')\n"
    page = "```bash\naccelerate launch --config_file a.yaml train.py\n```\n"
    files = {"a.yaml": yaml, "train.py": code, "README.md": page}
    out = explained(tmp_path, files)
    assert "README.md" in out
    assert "MP7" not in out


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
