"""What only its keys give to a framework, and what a program is seen to give to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

BY_KEYS = "by its keys"
PROGRAM = """\
import hydra
import pytorch_lightning as pl

@hydra.main(config_path="config", config_name="main", version_base=None)
def main(cfg):
    pl.seed_everything(cfg.seed)
    {}

if __name__ == "__main__":
    main()
"""
FILE = """\
seed: 1
trainer:
  accelerator: gpu
  max_steps: 5
  limit_val_batches: 5
  log_every_n_steps: 5
  precision: 16-mixed
"""
OVERRIDE = "python run.py trainer.precision=32\n"


def explained(folder: Path, body: str, more: str = "") -> str:
    files = {"config/main.yaml": FILE, "run.sh": OVERRIDE, "run.py": PROGRAM.format(body) + more}
    other = PROGRAM.format("pl.Trainer(**cfg.trainer)")
    return run("explain-config", cwd=project(folder, files | {"other.py": other})).out


def test_words_for_hydra_that_a_trainer_gets(tmp_path: Path) -> None:
    out = explained(tmp_path, "pl.Trainer(**cfg.trainer)")
    assert "run.sh:1: Lightning, started as run.py\n  compute  precision = 32" in out
    assert BY_KEYS not in out


@pytest.mark.parametrize(
    "body", ["print(cfg.input_dir)", "model = pl.LightningModule.load_from_checkpoint(cfg.ckpt)"]
)
def test_words_for_hydra_of_a_program_that_makes_no_trainer(body: str, tmp_path: Path) -> None:
    out = explained(tmp_path, body)
    assert "started as run.py\n  not understood: trainer.precision=32 (run.sh:1)" in out
    assert "Lightning, started as run.py" not in out


def test_words_for_hydra_that_are_not_seen_to_get_to_the_trainer(tmp_path: Path) -> None:
    out = explained(tmp_path, "start(pl.Trainer, cfg)")
    assert f"Lightning, started as run.py, {BY_KEYS}" in out


def of_words(folder: Path, script: str) -> str:
    files = {"config/main.yaml": FILE, "run.py": PROGRAM.format("pl.Trainer(**cfg.trainer)")}
    return run("explain-config", cwd=project(folder, files | {"run.sh": script})).out


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ('mapfile -t MORE < <(make_words)\npython run.py "${MORE[@]}"\n', "${MORE[@]}"),
        ('read -ra MORE < words\npython run.py seed=1 ${MORE[@]} "$@"\n', "${MORE[@]}"),
        ("MORE=$(make_words)\npython run.py seed=1 $MORE\n", "$MORE"),
    ],
)
def test_words_for_hydra_that_are_not_known(script: str, word: str, tmp_path: Path) -> None:
    assert f"Lightning, started as run.py, unless {word} says otherwise\n" in of_words(
        tmp_path, script
    )


@pytest.mark.parametrize(
    "script",
    [
        'python run.py seed=1 "$@"\n',
        "python run.py seed=1 $1 ${2} ${3:-}\n",
        "python run.py seed=$SEED\n",
        "NAME=$(date)\npython run.py name=$NAME\n",
        'MORE=(seed=2)\npython run.py "${MORE[@]}"\n',
        "python run.py trainer.precision=32\n",
    ],
)
def test_words_for_hydra_that_are_known_or_not_given(script: str, tmp_path: Path) -> None:
    assert "Lightning, started as run.py\n" in of_words(tmp_path, script)


SECTION = (
    "training:\n  learning_rate: 1.0e-5\n  num_train_epochs: 1\n  save_steps: 5\n  bf16: true\n"
)
SECTION += "  per_device_train_batch_size: 1\nmodel: m\n"
TRAINS = """\
import yaml
from transformers import TrainingArguments

config = yaml.safe_load(open("out/a.yaml"))
if __name__ == "__main__":
    print(config["model"], config["save_steps"], config["num_train_epochs"])
    print(config["learning_rate"], config["per_device_train_batch_size"])
    TrainingArguments("o", bf16=config["{}"].get("bf16", True))
"""


@pytest.mark.parametrize(("section", "is_followed"), [("training", True), ("train", False)])
def test_a_section_counts_as_read_if_the_program_asks_for_it(
    section: str, is_followed: bool, tmp_path: Path
) -> None:
    files = {"out/a.yaml": SECTION, "train.py": TRAINS.format(section)}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert f"Hugging Face Trainer, {BY_KEYS}" not in out
    assert ("nothing reads it (loaded, train.py:4)  out/a.yaml:5" in out) is not is_followed


LOADED = """\
training:
  output_dir: o
  batch_size: 4
  num_train_epochs: 3
  learning_rate: 1.0e-4
  lr_scheduler_type: cosine
  metric_for_best_model: map
  fp16: true
"""
GIVES = """\
import argparse, torch, yaml
from transformers import Trainer, TrainingArguments

def main(path):
    config = yaml.safe_load(open(path))
    training = config.get("training", {{}})
    args = TrainingArguments(
        output_dir=training.get("output_dir", "o"),
        per_device_train_batch_size=training.get("batch_size", 8),
        num_train_epochs=training.get("num_train_epochs", 3),
        learning_rate=training.get("learning_rate", 1e-5),
        lr_scheduler_type=training.get("lr_scheduler_type", "linear"),
        metric_for_best_model=training.get("metric_for_best_model", "map"),
        {}
    )
    Trainer(args=args).train()

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="a.yaml")
    main(parser.parse_args().config)
"""


@pytest.mark.parametrize(
    ("argument", "is_given"),
    [
        ("fp16=torch.cuda.is_available(),", False),
        ("fp16=True,", False),
        ("", False),
        ('fp16=training.get("fp16", False),', True),
        ('fp16=training["fp16"],', True),
    ],
)
def test_a_precision_that_the_program_gives_itself_is_none_of_the_file(
    argument: str, is_given: bool, tmp_path: Path
) -> None:
    files = {"conf/b.yaml": LOADED, "train.py": GIVES.format(argument)}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    of_file = [row for row in out.splitlines() if row.startswith("conf/b.yaml")]
    is_unread = "nothing reads it (loaded, train.py:5)  conf/b.yaml:8" in out
    assert is_unread is not is_given
    assert all((BY_KEYS not in row) == (is_given or is_unread) for row in of_file)
    assert of_file


ACCELERATE = "mixed_precision: fp16\ndistributed_type: MULTI_GPU\nnum_processes: 2\n"


@pytest.mark.parametrize(
    ("script", "is_given"),
    [
        ("accelerate launch --config_file a.yaml train.py\n", True),
        ("accelerate launch --config_file b.yaml train.py\n", False),
        ("cat > a.yaml <<EOF\nx: 1\nEOF\naccelerate launch --config_file a.yaml train.py\n", True),
    ],
)
def test_a_file_that_a_command_names(script: str, is_given: bool, tmp_path: Path) -> None:
    files = {"a.yaml": ACCELERATE, "run.sh": script, "train.py": "import accelerate\n"}
    out = run("explain-config", "a.yaml", cwd=project(tmp_path, files)).out
    assert (BY_KEYS not in out) == is_given


UNREAD = "for a program that is not seen to make what reads it"
LAUNCH = 'accelerate launch --mixed_precision="fp16" --num_processes 4 gen.py --save_dir o\n'


@pytest.mark.parametrize(
    ("program", "is_unread"),
    [
        ("from accelerate import PartialState\nstate = PartialState()\n", True),
        ("import torch\n", True),
        ("from accelerate import Accelerator\nAccelerator()\n", False),
        ("from transformers import Trainer\nTrainer(model).train()\n", False),
        ("from trl import SFTTrainer\nSFTTrainer(model).train()\n", False),
        ("import os\nprint(os.environ['ACCELERATE_MIXED_PRECISION'])\n", False),
        ("from helper import start\nstart()\n", False),
        (None, False),
    ],
)
def test_what_a_launcher_sets_for_a_program(
    program: str | None, is_unread: bool, tmp_path: Path
) -> None:
    helper = "from accelerate import Accelerator\ndef start():\n    return Accelerator()\n"
    files = {"run.sh": LAUNCH, "helper.py": helper}
    files |= {"gen.py": program} if program is not None else {}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert "run.sh:1: accelerate" in out
    assert "mixed_precision = fp16  run.sh:1" in out
    assert (f"accelerate, {UNREAD}\n" in out) is is_unread


DEEPSPEED = """\
{
  "train_batch_size": 8, "gradient_clipping": 1.0, "steps_per_print": 10,
  "zero_optimization": {"stage": 2},
  "bf16": {"enabled": true}
}
"""
MAKES_ITS_OWN = """\
import argparse
import json

import deepspeed

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_config")
    args = parser.parse_args()
    model = json.load(open(args.model_config))
    config = {}
    config.update(train_batch_size=1, gradient_clipping=1.0, steps_per_print=1)
    config.update(zero_optimization=dict(stage=2), bf16=dict(enabled=True))
    deepspeed.initialize(model=model, config=config)

if __name__ == "__main__":
    main()
"""


def test_a_program_that_has_the_keys_of_deepspeed_itself_need_not_read_the_file(
    tmp_path: Path,
) -> None:
    files = {"config/ds.json": DEEPSPEED, "train.py": MAKES_ITS_OWN}
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert "config/ds.json: DeepSpeed, by its keys: no file of the project names it" in out


@pytest.mark.parametrize(
    "more",
    [
        {"run.sh": "python train.py --model_config config/ds.json\n"},
        {
            "train.py": MAKES_ITS_OWN.replace(
                '"--model_config"', '"--model_config", default="config/ds.json"'
            )
        },
    ],
)
def test_one_that_gets_or_names_the_file_reads_it(more: dict[str, str], tmp_path: Path) -> None:
    files = {"config/ds.json": DEEPSPEED, "train.py": MAKES_ITS_OWN} | more
    out = run("explain-config", cwd=project(tmp_path, files)).out
    assert "config/ds.json: DeepSpeed\n" in out
