"""Programs that parse `TrainingArguments`, and make nothing that reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import project, run

UNREAD = ", for a program that is not seen to make what reads it"
PARSES = """\
import torch
from transformers import AutoModelForCausalLM, HfArgumentParser, TrainingArguments{also}

if __name__ == "__main__":
    (arguments,) = HfArgumentParser((TrainingArguments,)).{parse}
    model = AutoModelForCausalLM.from_pretrained("m", torch_dtype=torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.learning_rate)
    {rest}
"""
WORDS = "python train.py --output_dir out --learning_rate 1e-5 --do_train --bf16\n"
FILE = """\
output_dir: out
learning_rate: 1.0e-5
per_device_train_batch_size: 2
num_train_epochs: 1
seed: 1
bf16: true
"""


def program(
    also: str = "", parse: str = "parse_args_into_dataclasses()", rest: str = "pass"
) -> str:
    return PARSES.format(also=also and f", {also}", parse=parse, rest=rest)


def of_words(folder: Path, files: dict[str, str], words: str = WORDS) -> str:
    root = project(folder, {"pyproject.toml": "", "run.sh": words, **files})
    return run("explain-config", "run.sh", cwd=root).out


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": program()},
        {"train.py": program(rest="loop(model, optimizer, arguments.num_train_epochs)")},
        {"train.py": program(), "other.py": "from transformers import Trainer\n"},
        {"train.py": program() + "import steps\n", "steps.py": "def step(loss):\n    pass\n"},
    ],
)
def test_nothing_reads_them(files: dict[str, str], tmp_path: Path) -> None:
    out = of_words(tmp_path, files)
    assert f"Hugging Face Trainer, started as train.py{UNREAD}\n" in out


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": program("Trainer", rest="Trainer(model, arguments).train()")},
        {"train.py": program() + "from trl import SFTTrainer\n"},
        {"train.py": program() + "from lib import PairTrainer\n"},
        {
            "train.py": program()
            + "from accelerate import Accelerator\naccelerator = Accelerator()\n"
        },
        {"train.py": program() + "make('transformers.Trainer')\n"},
        {"train.py": program() + "import loop\n", "loop.py": "from transformers import Trainer\n"},
        {
            "train.py": program()
            + "import torch\nprecision = os.environ['ACCELERATE_MIXED_PRECISION']\n"
        },
    ],
)
def test_something_may(files: dict[str, str], tmp_path: Path) -> None:
    out = of_words(tmp_path, files)
    assert "Hugging Face Trainer, started as train.py" in out
    assert UNREAD not in out


def test_a_program_that_is_not_seen(tmp_path: Path) -> None:
    out = of_words(tmp_path, {}, WORDS.replace("train.py", "/opt/examples/run_clm.py"))
    assert "Hugging Face Trainer" in out
    assert UNREAD not in out


def test_products_of_float32_are_for_the_class_itself(tmp_path: Path) -> None:
    out = of_words(tmp_path, {"train.py": program()}, WORDS.replace("--bf16", "--tf32 true"))
    assert "tf32 = true" in out
    assert UNREAD not in out


@pytest.mark.parametrize("is_made", [False, True])
def test_a_file_for_such_a_program(is_made: bool, tmp_path: Path) -> None:
    rest = "Trainer(model, arguments).train()" if is_made else "pass"
    files = {
        "pyproject.toml": "",
        "train.py": program("Trainer" if is_made else "", "parse_yaml_file(sys.argv[1])", rest),
        "conf/a.yaml": FILE,
        "run.sh": "python train.py conf/a.yaml\n",
    }
    root = project(tmp_path, files)
    found = json.loads(run("explain-config", "--output-format", "json", cwd=root).out)
    rows = [one for one in found if one["framework"] == "hf_trainer"]
    assert rows
    assert all(one["unread_by_program"] is not is_made for one in rows)


def test_what_the_program_itself_makes_of_them(tmp_path: Path) -> None:
    rest = 'torch.autocast("cuda", torch.bfloat16, enabled=arguments.bf16).__enter__()'
    out = of_words(tmp_path, {"train.py": program(rest=rest)})
    assert "bfloat16 (autocast, train.py:8)  run.sh:1  --bf16" in out
    assert "Hugging Face Trainer" not in out
    out = of_words(
        tmp_path, {"train.py": program(rest=rest)}, WORDS.replace("\n", " --fp16_full_eval\n")
    )
    assert f"Hugging Face Trainer, started as train.py{UNREAD}\n" in out
