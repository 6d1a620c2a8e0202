"""Commands that a carriage return cuts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments

def main():
    args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    Trainer(args=args).train()

if __name__ == "__main__":
    main()
"""
CUT = "without effect: the command ends here, as a carriage return follows its backslash (run.sh:"


def said(script: str, folder: Path) -> str:
    return explained(folder, {"train.py": PROGRAM, "run.sh": script})


@pytest.mark.parametrize(
    ("script", "row"),
    [
        ("python train.py \\\r\n  --fp16 True \\\r\n  --output_dir a\r\n", 1),
        ("set -e\r\ntorchrun \\\r\n  train.py --fp16 True --output_dir a\r\n", 2),
    ],
)
def test_the_options_after_it(script: str, row: int, tmp_path: Path) -> None:
    out = said(script, tmp_path)
    assert f"started as train.py, {CUT}{row})" in out
    assert "fp16 = true" in out


@pytest.mark.parametrize(
    "script",
    [
        "python train.py \\\n  --fp16 True \\\n  --output_dir a\n",
        "python train.py --fp16 True --output_dir a\r\n",
        "python train.py --fp16 True \\\r\n  --output_dir a\r\n",
        "ARGS='--fp16 True --output_dir a'\r\npython train.py $ARGS \\\r\n  --seed 1\r\n",
        "echo a \\\r\n  b\r\npython train.py --fp16 True --output_dir a\n",
    ],
)
def test_commands_that_get_them(script: str, tmp_path: Path) -> None:
    assert "without effect" not in said(script, tmp_path)


@pytest.mark.parametrize("name", ["README.md", "Makefile"])
def test_other_files(name: str, tmp_path: Path) -> None:
    command = "python train.py \\\r\n\t--fp16 True \\\r\n\t--output_dir a\r\n"
    text = f"all:\r\n\t{command}" if name == "Makefile" else f"```bash\r\n{command}```\r\n"
    assert "carriage return" not in explained(tmp_path, {"train.py": PROGRAM, name: text})
