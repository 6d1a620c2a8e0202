"""A copy of transformers in the project makes no Trainer of each program that imports from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

COPY = {
    "own_copy/__init__.py": "from .arguments import TrainingArguments\nfrom .words import split\n",
    "own_copy/words.py": "def split(text):\n    return text.split()\n",
    "own_copy/arguments.py": (
        "from dataclasses import dataclass\n\n@dataclass\nclass TrainingArguments:\n"
        "    bf16: bool = False\n    fp16: bool = False\n"
    ),
    "own_copy/trainer.py": "from .arguments import TrainingArguments\n\nclass Trainer:\n    pass\n",
}
LOOP = """\
import argparse
import torch
from own_copy import split
{}

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--learning_rate", type=float)
    parser.add_argument("--do_train", action="store_true")
    parser.add_argument("--output_dir")
    args = parser.parse_args()
    {}

if __name__ == "__main__":
    main()
"""
SCRIPT = "python loop.py --fp16 --learning_rate 1e-4 --do_train --output_dir out\n"
ARGUMENTS = "training = TrainingArguments(fp16=args.fp16)"


@pytest.mark.parametrize(
    ("imported", "body", "others", "is_trainer"),
    [
        ("", "scaler = torch.amp.GradScaler(enabled=args.fp16)", {}, False),
        ("from own_copy import TrainingArguments", ARGUMENTS, {}, True),
        ("from transformers import TrainingArguments", ARGUMENTS, {}, True),
        (
            "from steps import run",
            "run(args)",
            {
                "steps.py": "from own_copy import TrainingArguments\n\ndef run(args):\n"
                "    return TrainingArguments(fp16=args.fp16)\n"
            },
            True,
        ),
        (
            "from steps import run",
            "run(args)",
            {
                "steps.py": "from own_copy import split\n\ndef run(args):\n"
                "    return torch.amp.GradScaler(enabled=args.fp16)\n"
            },
            False,
        ),
    ],
)
def test_a_program_beside_a_copy_of_the_library(
    imported: str, body: str, others: dict[str, str], is_trainer: bool, tmp_path: Path
) -> None:
    files = COPY | {"loop.py": LOOP.format(imported, body), "run.sh": SCRIPT} | others
    assert ("run.sh:1: Hugging Face Trainer" in explained(tmp_path, files)) is is_trainer


def test_classes_that_extend_the_library_are_no_copy(tmp_path: Path) -> None:
    extending = "import transformers\n\nclass TrainingArguments(transformers.TrainingArguments):\n"
    files = COPY | {"own_copy/arguments.py": f"{extending}    extra: int = 0\n"}
    files |= {"loop.py": LOOP.format("", "pass"), "run.sh": SCRIPT}
    assert "run.sh:1: Hugging Face Trainer" in explained(tmp_path, files)
