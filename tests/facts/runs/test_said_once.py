"""A file with the keys of a framework that a program is seen to read: it has one row."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

BY_KEYS = "by its keys: no program is seen to give them to it"
PROGRAM = """\
import argparse

import yaml
from transformers import Trainer, TrainingArguments

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    section = yaml.safe_load(open(parser.parse_args().config))["training"]
    arguments = TrainingArguments(section["output_dir"], {})
    Trainer(model, arguments).train()
"""
SETTINGS = """\
training:
  output_dir: out
  learning_rate: 1.0e-5
  per_device_train_batch_size: 2
  num_train_epochs: 3
  bf16: true
  deepspeed: ds.json
"""
DEEPSPEED = """\
{"bf16": {"enabled": true}, "zero_optimization": {"stage": 2}, "train_batch_size": "auto"}
"""
WHOLE = "bf16=section['bf16'], deepspeed=section['deepspeed']"


def explained(folder: Path, given: str, settings: str = SETTINGS) -> str:
    files = {
        "train.py": PROGRAM.replace("{}", given),
        "conf/a.yaml": settings,
        "ds.json": DEEPSPEED,
        "run.sh": "python train.py --config conf/a.yaml\n",
    }
    return run("explain-config", cwd=project(folder, files)).out


@pytest.mark.parametrize("given", [WHOLE, WHOLE.replace("['deepspeed']", ".get('deepspeed')")])
def test_with_the_file_that_it_names(given: str, tmp_path: Path) -> None:
    out = explained(tmp_path, given)
    assert "run.sh:1: Hugging Face Trainer, started as train.py" in out
    assert "bf16.enabled = true" in out
    assert "conf/a.yaml:2: Hugging Face Trainer" not in out


def test_without_one(tmp_path: Path) -> None:
    settings = SETTINGS.replace("  deepspeed: ds.json\n", "")
    out = explained(tmp_path, "bf16=section['bf16']", settings)
    assert "run.sh:1: Hugging Face Trainer, started as train.py" in out
    assert "conf/a.yaml:2: Hugging Face Trainer" not in out


def test_what_the_program_is_not_seen_to_give(tmp_path: Path) -> None:
    out = explained(tmp_path, "bf16=section['bf16']")
    assert "conf/a.yaml:2: Hugging Face Trainer" in out
    assert "deepspeed: ds.json: DeepSpeed" in out


CALLS = """\
import argparse

from transformers import Trainer, TrainingArguments

{before}
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", action="store_true")
    args = parser.parse_args()
    arguments = TrainingArguments("out", bf16=args.half, fp16=probe())
    Trainer(model, arguments).train()
"""


def test_a_call_that_the_program_is_seen_to_make(tmp_path: Path) -> None:
    files = {"train.py": CALLS.format(before="")}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert out.count("Hugging Face Trainer\n") == 1
    assert "bf16 = false by default" in out
    assert "fp16 = unknown until run time" in out


@pytest.mark.parametrize("words", ["", " --half"])
def test_what_a_command_gives_is_no_default(words: str, tmp_path: Path) -> None:
    files = {"train.py": CALLS.format(before=""), "run.sh": f"python train.py{words}\n"}
    first = run("explain-config", cwd=project(tmp_path, files)).out.partition("\n\n")[0]
    assert f"bf16 = {'true' if words else 'false'} " in first
    assert "by default" not in first


def test_two_calls(tmp_path: Path) -> None:
    before = 'def evaluate():\n    return TrainingArguments("out", bf16=probe())\n'
    files = {"train.py": CALLS.format(before=before)}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert out.count("Hugging Face Trainer\n") == 2


@pytest.mark.parametrize("is_started", [False, True])
def test_a_call_whose_program_is_not_followed(is_started: bool, tmp_path: Path) -> None:
    files = {"train.py": "TrainingArguments('out', bf16=probe())\n"}
    files |= {"run.sh": "python other.py\n"} if is_started else {}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert "train.py:1: Hugging Face Trainer\n" in out
