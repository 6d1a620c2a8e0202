"""Parsers of programs: each hands `fp16` and `bf16` to a Trainer, which refuses both.

In each form the words are such that both are on, or that one is off by the order in which the
parser fills its settings. The orders were observed with the libraries themselves.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.frameworks.test_calls_of_runs import places
from tests.facts.frameworks.test_runs import project

IMPORT = "from transformers import TrainingArguments\n"
USE = "TrainingArguments('o', fp16={0}.fp16, bf16={0}.bf16)\n"
ARGS = USE.format("args")
CLASS = """
@dataclass
class TrainConfig:
    fp16: bool = True
    bf16: bool = False
"""
DATACLASS = IMPORT + "from dataclasses import dataclass, field\n" + CLASS
NESTED = """
@dataclass
class Everything:
    train: TrainConfig = field(default_factory=TrainConfig)
"""
FUNCTION = """
def main(fp16: bool = True, bf16: bool = False):
    TrainingArguments("o", fp16=fp16, bf16=bf16)
"""
TWO_SWITCHES = """
import argparse, yaml
parser = argparse.ArgumentParser()
parser.add_argument("--config")
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--bf16", action="store_true")
"""
READ = "with open(args.config) as file:\n    read = yaml.safe_load(file)\n"
ON, OFF = "fp16: true\nlr: 1e-4\n", "fp16: false\nlr: 1e-4\n"


def is_found(root: Path, program: str, words: str, files: dict[str, str] | None = None) -> bool:
    files = {"train.py": program, "run.sh": f"python train.py {words}\n", **(files or {})}
    project(root, files)
    return bool(places(root))


TYRO = DATACLASS + "import tyro\nargs = tyro.cli(TrainConfig)\n" + ARGS
TYRO_NESTED = (
    DATACLASS + NESTED + "import tyro\nargs = tyro.cli(Everything)\n" + USE.format("args.train")
)
DRACCUS = (
    DATACLASS
    + "import draccus\n@draccus.wrap()\ndef main(args: TrainConfig):\n    "
    + ARGS
    + "main()\n"
)
SIMPLE = (
    DATACLASS + "from simple_parsing import ArgumentParser\nparser = ArgumentParser()\n"
    "parser.add_arguments(TrainConfig, dest='t')\nargs = parser.parse_args()\n"
    + USE.format("args.t")
)
TYPER = (
    IMPORT + "import typer\nfrom typing import Annotated\napp = typer.Typer()\n@app.command()\n"
    "def main(fp16: bool = True, bf16: Annotated[bool, typer.Option('--brain')] = False):\n"
    "    TrainingArguments('o', fp16=fp16, bf16=bf16)\napp()\n"
)
TYPER_RUN = (
    IMPORT + "import typer\n"
    "def main(fp16: bool = typer.Option(True), bf16: bool = typer.Option(False, '--brain')):\n"
    "    TrainingArguments('o', fp16=fp16, bf16=bf16)\ntyper.run(main)\n"
)
ABSL = (
    IMPORT + "from absl import app, flags\nFLAGS = flags.FLAGS\n"
    "flags.DEFINE_bool('fp16', True, 'help')\n_BF16 = flags.DEFINE_bool('bf16', False, 'help')\n"
    "def main(_):\n    TrainingArguments('o', fp16=FLAGS.fp16, bf16=_BF16.value)\napp.run(main)\n"
)
JSONARGPARSE = IMPORT + "from jsonargparse import CLI\n" + FUNCTION + "CLI(main)\n"
SETTINGS = (
    IMPORT + "from pydantic_settings import BaseSettings\n"
    "class Settings(BaseSettings, cli_parse_args=True):\n    fp16: bool = True\n"
    "    bf16: bool = False\nargs = Settings()\n" + ARGS
)


@pytest.mark.parametrize(
    ("program", "words", "both"),
    [
        (TYRO, "--bf16", True),
        (TYRO, "--bf16 --no-fp16", False),
        (TYRO, "$MORE", False),
        (TYRO_NESTED, "--train.bf16", True),
        (TYRO_NESTED, "--train.bf16 --train.no-fp16", False),
        (TYRO_NESTED, "--train.no-bf16", False),
        (DRACCUS, "--bf16 true", True),
        (DRACCUS, "--bf16 true --fp16=no", False),
        (SIMPLE, "--bf16", True),
        (SIMPLE, "--bf16 True --nofp16", False),
        (TYPER, "--brain", True),
        (TYPER, "--brain --no-fp16", False),
        (TYPER_RUN, "--brain", True),
        (TYPER_RUN, "", False),
        (ABSL, "--bf16", True),
        (ABSL, "--bf16=true --nofp16", False),
        (JSONARGPARSE, "--bf16 true", True),
        (JSONARGPARSE, "--bf16 true --fp16 off", False),
        (SETTINGS, "--bf16 true", True),
        (SETTINGS, "--bf16 true --fp16 false", False),
    ],
)
def test_words(tmp_path: Path, program: str, words: str, both: bool) -> None:
    assert is_found(tmp_path, program, words) is both


@pytest.mark.parametrize(
    ("lines", "words", "config", "both"),
    [
        ("parser.set_defaults(**read)\nargs = parser.parse_args()\n", "--bf16", ON, True),
        ("parser.set_defaults(**read)\nargs = parser.parse_args()\n", "--bf16", OFF, False),
        ("parser.set_defaults(**other())\nargs = parser.parse_args()\n", "--bf16", ON, False),
        ("vars(args).update(read)\n", "--bf16", ON, True),
        ("vars(args).update(read)\n", "--bf16 --fp16", OFF, False),
        ("args.__dict__.update(read)\n", "--bf16 --fp16", OFF, False),
        ("for key, value in read.items():\n    setattr(args, key, value)\n", "--bf16", ON, True),
        (
            "for key, value in read.items():\n    if key in known:\n"
            "        setattr(args, key, value)\n",
            "--bf16 --fp16",
            ON,
            False,
        ),
        ("args = argparse.Namespace(**{**vars(args), **read})\n", "--bf16", ON, True),
        ("args = argparse.Namespace(**{**read, **vars(args)})\n", "--bf16", ON, False),
    ],
)
def test_a_file_over_or_under_the_words(
    tmp_path: Path, lines: str, words: str, config: str, both: bool
) -> None:
    program = IMPORT + TWO_SWITCHES + "args, _ = parser.parse_known_args()\n" + READ + lines + ARGS
    assert is_found(tmp_path, program, f"--config c.yaml {words}", {"c.yaml": config}) is both


HF = (
    DATACLASS.replace("TrainConfig", "ScriptArguments")
    + "import sys\nfrom transformers import HfArgumentParser\n"
    "parser = HfArgumentParser(ScriptArguments)\n"
    "if len(sys.argv) == 2 and sys.argv[1].endswith('.yaml'):\n"
    "    (args,) = parser.parse_yaml_file(sys.argv[1])\n"
    "else:\n    (args,) = parser.parse_args_into_dataclasses()\n" + ARGS
)
MODEL = (
    IMPORT + "import sys, yaml\nfrom pydantic import BaseModel\nclass Train(BaseModel):\n"
    "    fp16: bool = True\n    bf16: bool = False\n"
    "args = Train(**yaml.safe_load(open(sys.argv[1])))\n" + ARGS
)
CHANGED = MODEL.replace(
    "args =", "    def model_post_init(self, _):\n        self.fp16 = not self.bf16\nargs ="
)
OMEGACONF = (
    DATACLASS + "from omegaconf import OmegaConf\nargs = OmegaConf.merge("
    "OmegaConf.structured(TrainConfig), OmegaConf.load('c.yaml'), OmegaConf.from_cli())\n" + ARGS
)
SPEECHBRAIN = (
    IMPORT + "import sys, speechbrain as sb\nfrom hyperpyyaml import load_hyperpyyaml\n"
    "path, options, overrides = sb.parse_arguments(sys.argv[1:])\n"
    "with open(path) as file:\n    hparams = load_hyperpyyaml(file, overrides)\n"
    "TrainingArguments('o', fp16=hparams['fp16'], bf16=hparams['bf16'])\n"
)
CONFIG_FILE = (
    IMPORT + "from jsonargparse import ArgumentParser, ActionConfigFile\n"
    "parser = ArgumentParser()\nparser.add_argument('--config', action=ActionConfigFile)\n"
    "parser.add_argument('--fp16', type=bool, default=True)\n"
    "parser.add_argument('--bf16', type=bool, default=False)\nargs = parser.parse_args()\n" + ARGS
)
BF16 = {"c.yaml": "bf16: true\n"}


@pytest.mark.parametrize(
    ("program", "words", "both"),
    [
        (HF, "c.yaml", True),
        (HF, "--fp16 False", False),
        (MODEL, "c.yaml", True),
        (MODEL, "$CONFIG", False),
        (CHANGED, "c.yaml", False),
        (OMEGACONF, "", True),
        (OMEGACONF, "fp16=false", False),
        (OMEGACONF, "bf16=false", False),
        (SPEECHBRAIN, "c.yaml --fp16=True", True),
        (SPEECHBRAIN, "c.yaml --fp16=False", False),
        (CONFIG_FILE, "--config c.yaml", True),
        (CONFIG_FILE, "--config c.yaml --fp16 false", False),
        (CONFIG_FILE, "--bf16 false --config c.yaml", False),
        (JSONARGPARSE, "--config c.yaml", True),
        (DRACCUS, "--config_path c.yaml", True),
        (DRACCUS, "--config_path c.yaml --bf16 false", False),
    ],
)
def test_a_file(tmp_path: Path, program: str, words: str, both: bool) -> None:
    assert is_found(tmp_path, program, words, BF16) is both


PROFILES = (
    IMPORT + "import argparse, yaml\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--configs', nargs='+')\nargs = parser.parse_args()\n"
    "with open('all.yaml') as file:\n    every = yaml.safe_load(file)\n"
    "conf = {}\nfor name in args.configs:\n    conf.update(every[name])\n"
    "TrainingArguments('o', fp16=conf['fp16'], bf16=conf['bf16'])\n"
)
ALL = "base:\n  fp16: false\n  bf16: true\nhalf:\n  fp16: true\nbrain:\n  fp16: false\n"


@pytest.mark.parametrize(
    ("words", "both"),
    [
        ("base half", True),
        ("half base", False),
        ("base half brain", False),
        ("base $PROFILE", False),
    ],
)
def test_profiles(tmp_path: Path, words: str, both: bool) -> None:
    assert is_found(tmp_path, PROFILES, f"--configs {words}", {"all.yaml": ALL}) is both


def test_a_variable_of_the_environment(tmp_path: Path) -> None:
    program = (
        IMPORT
        + "import os\nTrainingArguments('o', fp16=os.environ.get('P') == 'fp16', bf16=True)\n"
    )
    project(tmp_path, {"train.py": program, "run.sh": "export P=fp16\npython train.py\n"})
    assert places(tmp_path) == [("train.py", 3)]
    project(tmp_path, {"run.sh": "export P=bf16\npython train.py\n"})
    assert places(tmp_path) == []
