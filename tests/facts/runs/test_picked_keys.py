"""Keys of a framework that the program of a file leaves out, as it takes the others one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

FILE = (
    "model: m\noutput_dir: o\nper_device_train_batch_size: 1\nlearning_rate: 0.1\nwarmup_ratio: 0\n"
    "num_train_epochs: 1\nbf16: true\nfp16_full_eval: true\n"
)
PROGRAM = """\
import sys
import yaml
from transformers import Trainer, TrainingArguments
{}
def main():
    with open(sys.argv[1]) as file:
        config = yaml.safe_load(file)
    args = TrainingArguments(
        output_dir=config["output_dir"],
        per_device_train_batch_size=config["per_device_train_batch_size"],
        learning_rate=config["learning_rate"], warmup_ratio=config["warmup_ratio"],
        num_train_epochs=config["num_train_epochs"], bf16=config["bf16"], {}
    )
    Trainer(model=config["model"], args=args).train()

if __name__ == "__main__":
    main()
"""


def explained(tmp_path: Path, program: str) -> str:
    files = {"configs/a.yaml": FILE, "train.py": program}
    return run("explain-config", ".", cwd=project(tmp_path, files)).out


def test_nothing_reads_a_key_that_the_program_never_mentions(tmp_path: Path) -> None:
    out = explained(tmp_path, PROGRAM.format("", ""))
    assert "bf16 = true" in out
    assert "nothing reads it (loaded, train.py:7)  configs/a.yaml:8  fp16_full_eval: true" in out


@pytest.mark.parametrize(
    ("before", "given"),
    [
        ("", 'fp16_full_eval=config["fp16_full_eval"]'),
        ("", '**config.get("more", {})'),
        ("def put(args, config):\n    for name in config:\n        setattr(args, name, 1)\n", ""),
    ],
)
def test_what_the_program_may_take_is(before: str, given: str, tmp_path: Path) -> None:
    assert "not understood" not in explained(tmp_path, PROGRAM.format(before, given))


def test_a_file_that_no_program_reads_keeps_its_keys(tmp_path: Path) -> None:
    files = {"a.yaml": FILE, "b.py": "from transformers import TrainingArguments\n"}
    out = run("explain-config", ".", cwd=project(tmp_path, files)).out
    assert "fp16_full_eval = true" in out


OVERWRITING = """\
import torch
from transformers import HfArgumentParser, Trainer, TrainingArguments

def main():
    parser = HfArgumentParser(TrainingArguments)
    (training_args,) = parser.parse_yaml_file("configs/a.yaml")
    {}
    Trainer(model="m", args=training_args).train()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("code", "is_understood"),
    [
        ("training_args.bf16 = torch.cuda.is_bf16_supported()", False),
        ("training_args.bf16 = training_args.bf16 and torch.cuda.is_available()", True),
        ("if torch.cuda.is_available():\n        training_args.bf16 = True", True),
        ("training_args.bf16 = False", False),
        ("training_args.bf16 = None", False),
        ("training_args.bf16 = True", True),  # what the file says
        ("training_args.fp16_full_eval = True", True),
        ("training_args.seed = 1", True),
    ],
)
def test_a_key_that_the_program_overwrites(code: str, is_understood: bool, tmp_path: Path) -> None:
    out = explained(tmp_path, OVERWRITING.format(code))
    assert ("bf16 = true " in out) is is_understood
    listed = "not understood: bf16: true (configs/a.yaml:7); train.py, line 7, puts something else"
    assert (listed in out) is not is_understood
