"""Why settings are not understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained, project, run

DEEPSPEED = """\
{
  "train_micro_batch_size_per_gpu": 1,
  "zero_optimization": {"stage": 1},
  "bf16": {
    "enabled": true,
    "loss_scale_window": 1000,
    "hysteresis": 2
  },
  "fp16": {
    "enabled": false,
    "loss_scale_window": 500,
    "hysteresis": 3
  }
}
"""


@pytest.mark.parametrize(("key", "row"), [("loss_scale_window", 6), ("hysteresis", 7)])
def test_keys_that_the_section_of_a_framework_lacks(key: str, row: int, tmp_path: Path) -> None:
    out = explained(tmp_path, {"ds.json": DEEPSPEED})
    said = [line for line in out.splitlines() if f"(ds.json:{row})" in line]
    assert len(said) == 1
    assert f'not understood: "{key}"' in said[0]
    assert said[0].endswith("the `bf16` section of DeepSpeed has no such key")


def test_those_that_it_has_are_understood(tmp_path: Path) -> None:
    out = explained(tmp_path, {"ds.json": DEEPSPEED})
    assert "fp16.loss_scale_window = 500  ds.json:11" in out
    assert "fp16.hysteresis = 3" in out


PARSED = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments
from {home} import ModelConfig

if __name__ == "__main__":
    arguments, config = HfArgumentParser((TrainingArguments, ModelConfig)).parse()
    Trainer(make(config.model_name_or_path), arguments).train()
"""
FIELDS = "class ModelConfig:\n    model_name_or_path: str\n"


@pytest.mark.parametrize(
    ("home", "expected"),
    [
        ("trl", "mentions it; ModelConfig, which its parser fills, may have it\n"),
        ("settings", "mentions it\n"),
    ],
)
def test_a_class_of_a_library_may_have_the_option(home: str, expected: str, tmp_path: Path) -> None:
    words = "python train.py --output_dir out --do_train --learning_rate 1e-5 --kind_dtype half\n"
    files = {"train.py": PARSED.format(home=home), "run.sh": words}
    files |= {"settings.py": FIELDS} if home == "settings" else {}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert f"--kind_dtype half (run.sh:1); no file that the program imports {expected}" in out


SEVERAL = """\
from transformers import HfArgumentParser
from own import Data, Model, TuneTrainingArguments

if __name__ == "__main__":
    parsed = HfArgumentParser((Model, Data, TuneTrainingArguments)).parse_args_into_dataclasses()
    start(*parsed)
"""
OWN = """\
from dataclasses import dataclass
from tunelib import LibraryArguments, LibraryData

Data = LibraryData

@dataclass
class Model:
    name: str = ""

@dataclass
class TuneTrainingArguments({base}):
    weight: float = 1.0
"""


@pytest.mark.parametrize(
    ("base", "option", "classes"),
    [
        ("LibraryArguments", "--fp16 True", "TuneTrainingArguments"),
        ("LibraryArguments", "--kind_dtype half", "Data or TuneTrainingArguments"),
        ("object", "--fp16 True", "Data"),
        ("Model", "--fp16 True", "Data"),
    ],
)
def test_the_classes_that_may_have_an_option(
    base: str, option: str, classes: str, tmp_path: Path
) -> None:
    files = {"train.py": SEVERAL, "own.py": OWN.format(base=base)}
    files["run.sh"] = f"python train.py {option} --out_dir o\n"
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert f"mentions it; {classes}, which its parser fills, may have it\n" in out


OPTIONS = "import argparse\nparser = argparse.ArgumentParser()\nprint(parser.parse_args())\n"
OF_ITS_OWN = "no program gets it: `{}`, a line below its command, starts one of its own"


@pytest.mark.parametrize(
    ("script", "first", "row"),
    [
        ("python train.py \\\n  --beta 0.9\n  --lr 1 \\\n  --tf32 True\n", "--lr", 4),
        ("python train.py \\\n  --beta 0.9 \\\n#  --lr 1 \\\n  --tf32 True\n", "--tf32", 4),
        ("python train.py \\\n  --beta \\ \n  --tf32 True\n", "--tf32", 3),
    ],
    ids=["no backslash", "a comment", "a blank after the backslash"],
)
def test_options_below_their_command(script: str, first: str, row: int, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": OPTIONS, "run.sh": script})
    reason = OF_ITS_OWN.format(first)
    assert f"not read in the project: --tf32 True (run.sh:{row}); {reason}" in out


@pytest.mark.parametrize(
    "files",
    [
        {"run.sh": "python train.py \\\n  --beta 0.9 \\\n  --tf32 True\n"},
        {"run.sh": "$PYTHON train.py\n\n--lr 1 --tf32 True\n"},
        {"run.sh": "$WORDS \\\n  --lr 1 \\\n  --tf32 True\n"},
        {"run.sh": 'ARGS="--lr 1 \\\n  --tf32 True"\npython train.py $ARGS\n'},
        {"run.sh": "ARGS=(\n  --lr 1\n  --tf32 True\n)\npython train.py ${ARGS[@]}\n"},
        {"run.sh": "cat <<END\n  --lr 1\n  --tf32 True\nEND\n"},
        {"README.md": "```sh\n--lr 1\n--tf32 True\n```\n"},
        {"run.sh": "python train.py --beta 1; --tf32 True\n"},
    ],
)
def test_options_that_may_have_a_command(files: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": OPTIONS} | files)
    assert "starts one of its own" not in out
