"""Which framework of a family a file is for: `SFTConfig` extends `TrainingArguments`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

FILE = (
    "data: d\nseed: 1\nlearning_rate: 0.1\nper_device_train_batch_size: 1\nsave_steps: 1\n"
    "lr_scheduler_type: cosine\nbf16: true\n"
)
SFT = "from trl import SFTConfig\nargs = SFTConfig(output_dir='o')\n"
PLAIN = "from transformers import TrainingArguments\nargs = TrainingArguments(output_dir='o')\n"
TRAINER = "a.yaml: Hugging Face Trainer\n"
TRL = "a.yaml: TRL\n"
EITHER = "a.yaml: Hugging Face Trainer or TRL\n"
BY_KEYS = ", by its keys: no program is seen to give them to it\n"
LOADS = """\
import sys
import yaml

config = yaml.safe_load(open(sys.argv[1]))
print(config["data"], config["seed"], config["learning_rate"], config["save_steps"])
{}
if __name__ == "__main__":
    main()
"""
OWN = LOADS.format("from tool import Engine\nEngine(precision=config['bf16'])")


def explained(tmp_path: Path, files: dict[str, str]) -> str:
    """What is said of `a.yaml`, which a command gives to a program that is not there."""
    script = {"run.sh": "python far.py a.yaml\n"}
    return run("explain-config", cwd=project(tmp_path, {"a.yaml": FILE, **script, **files})).out


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, TRAINER),
        ({"one.py": SFT}, TRL),
        ({"one.py": PLAIN}, TRAINER),
        ({"one.py": SFT, "two.py": PLAIN}, EITHER),
        ({"one.py": SFT, "tests/test_two.py": PLAIN}, TRL),
        # Before there were configurations of TRL, its trainers took `TrainingArguments`.
        ({"one.py": "from trl import SFTTrainer\n" + PLAIN}, TRAINER),
        ({"one.py": SFT.replace("SFTConfig", "MySFTConfigs")}, TRAINER),
    ],
)
def test_the_classes_that_a_project_names(
    files: dict[str, str], expected: str, tmp_path: Path
) -> None:
    assert expected.replace("\n", BY_KEYS) in explained(tmp_path, files)


def test_what_they_do_not_agree_on_is_not_known(tmp_path: Path) -> None:
    files = {"a.yaml": FILE.replace("bf16: true", "fp16: false"), "one.py": SFT}
    out = explained(tmp_path, files | {"two.py": PLAIN})
    assert EITHER.replace("\n", BY_KEYS) in out
    assert "bf16: false" not in out


def test_programs_that_may_read_it_and_know_nothing_of_the_framework(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train_one.py": OWN, "train_two.py": OWN, "other.py": PLAIN})
    assert "a.yaml: Hugging Face Trainer" not in out
    assert "not understood: bf16: true" in out


def test_programs_that_may_read_it_and_all_call_the_framework(tmp_path: Path) -> None:
    program = LOADS.format(SFT + "print(args, config['bf16'])")
    files = {"train_one.py": program, "train_two.py": program, "other.py": PLAIN}
    assert TRL.replace("\n", BY_KEYS) in explained(tmp_path, files)


PARSES = """\
import yaml
from transformers import HfArgumentParser, Trainer
from settings import {name}
{more}
class OwnParser(HfArgumentParser):
    def parse(self):
        return self.parse_yaml_file("a.yaml")

def main():
    parser = OwnParser(({name},))
    (args,) = parser.parse()
    print(args.data, args.seed)

if __name__ == "__main__":
    main()
"""
OF_TRAINER = """\
import transformers
class SPINConfig(transformers.TrainingArguments):
    beta: float = 0.1
"""
TRL_KEYS = FILE + "use_peft: true\nmax_prompt_length: 3\nbeta: 0.1\n"


@pytest.mark.parametrize(
    ("name", "settings", "more", "expected"),
    [
        ("SPINConfig", OF_TRAINER, "", TRAINER),
        ("SFTConfig", OF_TRAINER.replace("SPINConfig", "SFTConfig"), "", TRAINER),
        # What other code of the program calls does not count where a parser makes a class.
        ("SPINConfig", OF_TRAINER, "import trl\ntrl.SFTConfig(output_dir='x')\n", TRAINER),
        ("Own", "from trl import DPOConfig as Base\nclass Own(Base):\n    x: int = 1\n", "", TRL),
        ("Own", "from base import *\nclass Own(Between):\n    x: int = 1\n", "", TRL),
        ("SFTConfig", "import trl\nSFTConfig = trl.SFTConfig\n", "", TRL),
        (
            "SFTConfig",
            "from trl import SFTConfig\nclass SFTConfig(SFTConfig):\n    x = 1\n",
            "",
            TRL,
        ),
    ],
)
@pytest.mark.parametrize("text", [FILE, TRL_KEYS])
def test_the_class_that_the_parser_fills(
    text: str, name: str, settings: str, more: str, expected: str, tmp_path: Path
) -> None:
    files = {
        "a.yaml": text,
        "train.py": PARSES.format(name=name, more=more),
        "settings.py": settings,
        "base.py": "from trl import GRPOConfig\nclass Between(GRPOConfig):\n    y: int = 2\n",
    }
    assert expected in explained(tmp_path, files)


def test_a_class_of_the_project_with_fields_of_the_same_names(tmp_path: Path) -> None:
    fields = [line.partition(":")[0] for line in FILE.splitlines()]
    own = "from dataclasses import dataclass\n@dataclass\nclass Own:\n" + "".join(
        f"    {name}: str = ''\n" for name in fields
    )
    program = PARSES.format(name="Own", more="from transformers import TrainingArguments\n")
    out = explained(tmp_path, {"train.py": program, "settings.py": own})
    assert "a.yaml: Hugging Face Trainer" not in out
    assert "not understood: bf16: true" in out


def test_a_class_that_is_called_has_the_framework_of_its_base(tmp_path: Path) -> None:
    own = OF_TRAINER.replace("SPINConfig", "SFTConfig")
    program = LOADS.format("from own import SFTConfig\nSFTConfig(bf16=config['bf16'])")
    out = explained(tmp_path, {"train.py": program, "own.py": own})
    assert "a.yaml: Hugging Face Trainer" in out
    assert "TRL" not in out


STARTED = """\
from transformers import HfArgumentParser
from settings import {name}

def main():
    (args,) = HfArgumentParser(({name},)).parse_args_into_dataclasses()
    print(args.bf16, args.data)

if __name__ == "__main__":
    main()
"""
SCRIPT = (
    "python train.py --bf16 True --learning_rate 0.1 --per_device_train_batch_size 1 --seed 1\n"
)


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("TrainingArguments", "class TrainingArguments:\n    bf16: bool = False\n", None),
        ("SFTConfig", OF_TRAINER.replace("SPINConfig", "SFTConfig"), "Hugging Face Trainer"),
        ("TrainingArguments", "from trl import SFTConfig as TrainingArguments\n", "TRL"),
        (
            "TrainingArguments",
            "from transformers import TrainingArguments\n",
            "Hugging Face Trainer",
        ),
    ],
)
def test_the_options_of_a_command_are_those_of_the_class(
    name: str, settings: str, expected: str | None, tmp_path: Path
) -> None:
    files = {"run.sh": SCRIPT, "settings.py": settings, "train.py": STARTED.format(name=name)}
    out = explained(tmp_path, files)
    names = {each for each in ("Hugging Face Trainer", "TRL") if f":1: {each}, started as" in out}
    assert names == ({expected} if expected else set())


def test_few_keys_are_enough_for_the_class_of_the_reader(tmp_path: Path) -> None:
    program = """\
from trl import ModelConfig, SFTConfig, TrlParser

def main():
    parser = TrlParser((SFTConfig, ModelConfig))
    parser.parse_args_and_config()

if __name__ == "__main__":
    main()
"""
    text = "model_name_or_path: m\nbf16: true\nlearning_rate: 0.1\nseed: 3\noutput_dir: o\n"
    assert TRL[:-1] in explained(tmp_path, {"a.yaml": text, "train.py": program})
    own = program.replace("from trl import ModelConfig, SFTConfig, TrlParser", "from tool import *")
    (other := tmp_path / "other").mkdir()
    assert TRL[:-1] not in explained(other, {"a.yaml": text, "train.py": own})


@pytest.mark.parametrize("line", ["from trl import SFTConfig", "from ..trainer import SFTConfig"])
def test_a_copy_of_the_library_is_the_library(line: str, tmp_path: Path) -> None:
    program = STARTED.format(name="SFTConfig").replace("from settings import SFTConfig", line)
    files = {
        "trl/scripts/sft.py": program,
        "trl/__init__.py": "from .trainer import SFTConfig\n",
        "trl/scripts/__init__.py": "",
        "trl/trainer.py": OF_TRAINER.replace("SPINConfig", "SFTConfig"),
        "run.sh": SCRIPT.replace("train.py", "trl/scripts/sft.py"),
    }
    out = explained(tmp_path, files)
    assert ":1: TRL, started as" in out
    assert ":1: Hugging Face Trainer" not in out
