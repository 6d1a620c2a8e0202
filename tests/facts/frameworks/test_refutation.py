"""Who reads the options of a launch: a program that never reaches a framework is no run of it."""

from __future__ import annotations

from pathlib import Path

import pytest

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
