"""Who reads the options of a launch: a program that never reaches a framework is no run of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.frameworks.runs import runs
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.project.files import Project
from tests.facts.frameworks.test_runs import found, project

LAUNCH = (
    "accelerate launch --config_file acc.yaml train.py --output_dir o --learning_rate 1e-5"
    " --dataloader_num_workers 2 --seed 1 --mixed_precision bf16 --deepspeed ds.json\n"
)
DEEPSPEED = '{"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}}\n'
PARSER = "import argparse\n\ndef parse():\n    return argparse.ArgumentParser().parse_args()\n"
LIB = "from lib.args import parse\n"
MAIN = "from {module} import parse\n\nargs = parse()\n"


def codes(root: Path) -> list[str]:
    return [finding.code for finding in found(root, "run.sh", "ds.json")]


@pytest.mark.parametrize(
    "program",
    [
        {"train.py": PARSER},
        {"train.py": MAIN.format(module="args"), "args.py": PARSER},
        {"train.py": MAIN.format(module="lib.more"), "lib/more.py": MAIN.format(module="lib.args"),
         "lib/args.py": PARSER},
        {"train.py": "import click\n\n@click.command()\ndef main(): ...\n"},
    ],
)  # fmt: skip
def test_a_program_with_a_parser_of_its_own_is_no_trainer(
    tmp_path: Path, program: dict[str, str]
) -> None:
    assert not codes(project(tmp_path, {"run.sh": LAUNCH, "ds.json": DEEPSPEED, **program}))


@pytest.mark.parametrize(
    "program",
    [
        {},
        {"train.py": "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"},
        {"train.py": LIB + "Trainer()\n", "lib/args.py": PARSER + "TrainingArguments\n"},
        {"train.py": LIB + "SFTTrainer()\n", "lib/args.py": "MyTrainingArguments\n"},
        {"train.py": "from vendor import main\nmain()\n"},
    ],
)  # fmt: skip
def test_a_program_that_reaches_the_trainer_or_is_not_at_hand_may_be_one(
    tmp_path: Path, program: dict[str, str]
) -> None:
    assert codes(project(tmp_path, {"run.sh": LAUNCH, "ds.json": DEEPSPEED, **program})) == [
        "MP703"
    ]


OWN = """\
import torch
from transformers import HfArgumentParser, TrainingArguments
from own import OwnTrainer

args, = HfArgumentParser(TrainingArguments).parse_yaml_file("args.yaml")
if __name__ == "__main__":
    OwnTrainer(args).train()
"""


@pytest.mark.parametrize(
    ("trainer", "expected"),
    [
        ("class OwnTrainer:\n    error = 'Trainer: it needs data'\n", []),
        ("from transformers import Trainer\nclass OwnTrainer(Trainer): ...\n", ["MP703"]),
    ],
)
def test_a_trainer_of_its_own_checks_no_deepspeed_file(
    tmp_path: Path, trainer: str, expected: list[str]
) -> None:
    files = {"run.sh": "deepspeed train.py args.yaml\n", "train.py": OWN, "own.py": trainer}
    args = "do_train: true\noutput_dir: o\nsave_steps: 1\nseed: 1\ndeepspeed: ds.json\n"
    project(tmp_path, {**files, "args.yaml": args, "ds.json": DEEPSPEED})
    assert [one.code for one in found(tmp_path, "args.yaml", "ds.json")] == expected
    (tmp_path / "run.sh").unlink()
    assert [one.code for one in found(tmp_path, "args.yaml", "ds.json")] == expected


def test_a_launch_finds_its_program_where_it_went_to(tmp_path: Path) -> None:
    launch = f"cd code || exit 1\n{LAUNCH}".replace("ds.json", "../ds.json")
    project(tmp_path, {"run.sh": launch, "ds.json": DEEPSPEED})
    assert codes(tmp_path) == ["MP703"]
    project(tmp_path, {"code/train.py": PARSER})
    assert not codes(tmp_path)


def test_a_script_that_is_sourced_is_a_part_of_the_run(tmp_path: Path) -> None:
    launch = (
        "source conf/common.sh\n"
        "torchrun train.py --output_dir o --do_train --seed 1 $PRECISION --deepspeed $DS_CONFIG\n"
    )
    common = 'DS_CONFIG=conf/ds.json\nPRECISION="--bf16"\n'
    fp16 = DEEPSPEED.replace("bf16", "fp16")
    project(tmp_path, {"run.sh": launch, "conf/common.sh": common, "conf/ds.json": fp16})
    names = ("run.sh", "conf/common.sh", "conf/ds.json")
    whole = [(one.code, one.place) for one in found(tmp_path, *names)]
    assert [(code, place.path.name) for code, place in whole] == [("MP703", "ds.json")]
    for name in names:
        assert {one.code for one in found(tmp_path, name)} == {"MP703"}, name


CONVERTS = "import json\n\nif __name__ == '__main__':\n    main()\n"
RECIPE = (
    "bf16: true\nfp16: true\noutput_dir: o\nper_device_train_batch_size: 2\nlearning_rate: 1e-5\n"
)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ({}, True),
        ({"train.py": "import json\njson.load(f)\n"}, True),
        ({"train.py": "import yaml\nyaml.safe_load(f)\n"}, False),
        ({"train.py": "import yaml\nyaml.safe_load(f)\n", "a.py": "import trl\n"}, True),
        ({"train.py": "OmegaConf.load(f)\nTrainingArguments(**c)\n"}, True),
        # It has programs, and none that knows the Trainer.
        ({"convert.py": CONVERTS}, False),
        ({"convert.py": CONVERTS, "a.py": "from transformers import TrainingArguments\n"}, True),
        ({"convert.py": CONVERTS, "README.md": "Start it with `trl sft --config a.yaml`.\n"}, True),
        ({"convert.py": CONVERTS, "run.sh": "trl sft --config a.yaml\n"}, True),
    ],
)
def test_a_project_that_loads_its_files_by_itself(
    tmp_path: Path, code: dict[str, str], expected: bool
) -> None:
    project(tmp_path, {"a.yaml": RECIPE, **code})
    assert bool(found(tmp_path, "a.yaml")) is expected


TRAINER = """\
trainer:
  max_epochs: 3
  precision: 16
  accumulate_grad_batches: 1
  log_every_n_steps: 10
"""
LOADS = "from omegaconf import OmegaConf\n\nif __name__ == '__main__':\n    OmegaConf.load(f)\n"
HELPER = "from pytorch_lightning.utilities import rank_zero_only\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ({}, True),
        ({"train.py": LOADS}, False),
        ({"train.py": LOADS, "model.py": HELPER}, False),
        ({"train.py": LOADS, "model.py": HELPER, "other.py": "class Trainer: ...\n"}, False),
        ({"train.py": LOADS + "import pytorch_lightning as pl\npl.Trainer(**cfg)\n"}, True),
        ({"train.py": "from lightning.pytorch.cli import LightningCLI\n" + LOADS}, True),
        ({"train.py": LOADS, "model.py": HELPER,
          "conf/trainer.yaml": "_target_: pytorch_lightning.Trainer\n"}, True),
    ],
)  # fmt: skip
def test_a_helper_of_lightning_reads_no_arguments_of_its_trainer(
    tmp_path: Path, code: dict[str, str], expected: bool
) -> None:
    root = project(tmp_path, {"a.yaml": TRAINER, **code})
    assert ("Lightning" in names(root, "a.yaml")) is expected


DECLARES = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed_config", default=None)
args = parser.parse_args()
if __name__ == "__main__":
    main(args)
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ({}, True),
        ({"train.py": DECLARES}, False),
        ({"train.py": DECLARES + "print(args.deepspeed_config)\n"}, True),
        ({"train.py": DECLARES, "README.md": "deepspeed train.py --deepspeed_config ds.json\n"},
         False),
        ({"train.py": DECLARES, "README.md": "swift sft --deepspeed ds.json\n"}, True),
        ({"train.py": DECLARES + "import deepspeed\n"}, True),
        ({"train.py": DECLARES + "from accelerate import Accelerator\n"}, True),
        ({"train.py": DECLARES, "other.py": "GRPOConfig('o', deepspeed=path)\n"}, True),
        ({"train.py": DECLARES, "other.py": "HfArgumentParser(GRPOConfig)\n"}, True),
        ({"train.py": DECLARES, "other.py": "Trainer(strategy='deepspeed_stage_2')\n"}, True),
    ],
)  # fmt: skip
def test_an_option_that_nothing_reads_gives_no_file_to_deepspeed(
    tmp_path: Path, code: dict[str, str], expected: bool
) -> None:
    root = project(tmp_path, {"ds.json": DEEPSPEED, **code})
    assert ("DeepSpeed" in names(root, "ds.json")) is expected


def names(root: Path, name: str) -> set[str]:
    """The frameworks that read a file."""
    facts = ProjectFacts(Project(root)).recording()
    file = facts.config_files.at(root / name)
    assert file is not None
    return {run.framework.name for run in runs(file, facts)}


PARSED = """\
from dataclasses import dataclass
from transformers import HfArgumentParser, TrainingArguments
from other import align

@dataclass
class Arguments(TrainingArguments):
    name: str = ""

args, = HfArgumentParser(Arguments).parse_args_into_dataclasses()
align(args)
"""
ALIGN = """\
from transformers import TrainingArguments

def align(args):
    TrainingArguments("o", seed=args.seed, bf16=args.bf16)
"""


@pytest.mark.parametrize(
    ("program", "expected"),
    [(PARSED, ["MP702"]), (PARSED.replace("(TrainingArguments)", ""), [])],
)
def test_a_parser_of_the_class_reads_the_command_whatever_else_is_called(
    tmp_path: Path, program: str, expected: list[str]
) -> None:
    launch = "python train.py --do_train --output_dir o --seed 1 --fp16 --bf16\n"
    project(tmp_path, {"run.sh": launch, "train.py": program, "other.py": ALIGN})
    assert [one.code for one in found(tmp_path, "run.sh")] == expected
