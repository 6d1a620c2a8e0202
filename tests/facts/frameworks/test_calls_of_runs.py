"""Calls of frameworks in a program, with the arguments that the settings of a run give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.frameworks.test_runs import found, project

PARSER = """\
import argparse
from transformers import Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--no_bf16", dest="bf16", action="store_false")
parser.add_argument("--precision", default="no", choices=["no", "fp16", "bf16"])
parser.add_argument("--ds", default=None)
args = parser.parse_args()
"""
BOTH = "training_args = TrainingArguments('o', fp16=args.fp16, bf16=args.bf16)\n"
CLASSES = """\
from dataclasses import dataclass, field
from transformers import HfArgumentParser
from trl import ORPOConfig

@dataclass
class ScriptArguments:
    fp16: bool = field(default=True)
    bf16: bool = field(default=False)

def main():
    script_args, = HfArgumentParser(ScriptArguments).parse_args_into_dataclasses()
    config = ORPOConfig(output_dir="o", fp16=script_args.fp16, bf16=script_args.bf16)

if __name__ == "__main__":
    main()
"""
LOADED = """\
import sys
import yaml
from transformers import TrainingArguments

def load(path):
    with open(path) as file:
        return yaml.safe_load(file)

class Run:
    def __init__(self, cfg):
        self.cfg = cfg

    def train(self):
        return TrainingArguments({arguments})

if __name__ == "__main__":
    Run(load("conf/a.yaml")).train()
"""
CLICK = """\
import click
from transformers import TrainingArguments

@click.command()
@click.option("--narrow", is_flag=True)
@click.option("--brain/--no-brain", default=True)
def main(narrow, brain):
    TrainingArguments("o", fp16=narrow, bf16=brain)

main()
"""
FIRE = """\
import fire
from transformers import TrainingArguments

def train(narrow: bool = False, brain: bool = True):
    TrainingArguments("o", fp16=narrow, bf16=brain)

fire.Fire(train)
"""


def places(root: Path) -> list[tuple[str, int]]:
    results = found(root, *(str(path.relative_to(root)) for path in files(root)))
    return [(one.place.path.name, one.place.start.row) for one in results]


def files(root: Path) -> list[Path]:
    kinds = {".py", ".sh", ".yaml", ".json"}
    return sorted(path for path in root.rglob("*") if path.suffix in kinds)


@pytest.mark.parametrize(
    ("program", "words", "place"),
    [
        (PARSER + BOTH, "--fp16", ("run.sh", 1)),
        (PARSER + BOTH, "--fp16 --no_bf16", None),
        (PARSER + BOTH, "", None),
        (PARSER + BOTH, "$ARGS", None),
        (PARSER + "args.fp16 = x()\n" + BOTH, "--fp16", None),
        (PARSER + "def change():\n    args.fp16 = x()\n" + BOTH, "--fp16", None),
        (PARSER + BOTH + "args.fp16 = x()\n", "--fp16", ("run.sh", 1)),
        (PARSER + "if not args.bf16:\n    " + BOTH, "--fp16", None),
        (
            PARSER + "import torch\nif torch.cuda.is_available():\n    " + BOTH,
            "--fp16",
            ("run.sh", 1),
        ),
        (
            PARSER + "import torch\nif torch.backends.mps.is_available():\n    " + BOTH,
            "--fp16",
            None,
        ),
        (CLASSES, "--bf16 True", ("run.sh", 1)),
        (CLASSES, "--bf16 True --fp16 False", None),
        (CLASSES, "", None),
        (CLICK, "--narrow", ("train.py", 8)),
        (CLICK, "--narrow --name bf16", ("run.sh", 1)),
        (CLICK, "--narrow --no-brain", None),
        (FIRE, "--narrow True", ("train.py", 5)),
        (FIRE, "--narrow True --brain False", None),
    ],
)
def test_the_options_of_a_launch(
    tmp_path: Path, program: str, words: str, place: tuple[str, int] | None
) -> None:
    project(tmp_path, {"run.sh": f"python train.py {words}\n", "train.py": program})
    assert places(tmp_path) == [place] * (place is not None)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('fp16=self.cfg["fp16"], bf16=self.cfg["train"]["bf16"]', True),
        ('fp16=self.cfg.get("fp16", False), **self.cfg["train"]', True),
        ('fp16=self.cfg["fp16"], bf16=self.cfg.get("other", False)', False),
        ('fp16=self.cfg["fp16"], bf16=self.cfg["train"]["mode"] == "bf16"', True),
        ('fp16=self.cfg["fp16"], bf16=self.cfg["train"]["mode"] == "fp16"', False),
        ('fp16=not self.cfg["fp16"], bf16=self.cfg["train"]["bf16"]', False),
    ],
)
def test_the_settings_of_a_file(tmp_path: Path, arguments: str, expected: bool) -> None:
    program = LOADED.format(arguments=arguments)
    config = "fp16: true\ntrain:\n  bf16: true\n  mode: bf16\n"
    project(tmp_path, {"train.py": program, "conf/a.yaml": config})
    assert bool(places(tmp_path)) is expected
    assert all(name == "a.yaml" for name, _ in places(tmp_path))


def test_a_function_that_nobody_mentions_does_not_run(tmp_path: Path) -> None:
    unused = PARSER + "def unused():\n    " + BOTH
    project(tmp_path, {"run.sh": "python train.py --fp16\n", "train.py": unused})
    assert not places(tmp_path)
    project(tmp_path, {"train.py": unused + "unused()\n"})
    assert places(tmp_path) == [("run.sh", 1)]


def test_the_file_that_an_option_names(tmp_path: Path) -> None:
    call = "TrainingArguments('o', fp16=False, deepspeed=args.ds)\n"
    deepspeed = '{"zero_optimization": {"stage": 2},\n "fp16": {"enabled": true}}\n'
    project(tmp_path, {"train.py": PARSER + call, "conf/ds.json": deepspeed})
    project(tmp_path, {"run.sh": "torchrun train.py --ds conf/ds.json\n"})
    assert places(tmp_path) == [("ds.json", 2)]
    project(tmp_path, {"conf/ds.json": deepspeed.replace("true", '"auto"')})
    assert not places(tmp_path)


def test_a_default_without_a_launch(tmp_path: Path) -> None:
    program = PARSER.replace('"store_true"', '"store_false"') + BOTH
    project(tmp_path, {"train.py": program})
    assert places(tmp_path) == [("train.py", 6)]


@pytest.mark.parametrize(
    ("default", "words", "expected"),
    [('"fp16"', "", True), ('"bf16"', "", False), ("None", "", False), ('"fp16"', "$X", False),
     ('"fp16"', "--mixed_precision bf16", False)],
)  # fmt: skip
def test_the_default_of_a_program_that_a_table_knows(
    tmp_path: Path, default: str, words: str, expected: bool
) -> None:
    program = (
        "import argparse\nfrom diffusers import UNet2DModel\nparser = argparse.ArgumentParser()\n"
        f"parser.add_argument('--mixed_precision', default={default})\n"
    )
    launch = (
        "accelerate launch --mixed_precision bf16 train_text_to_image.py --resolution 64"
        f" --train_batch_size 1 --gradient_accumulation_steps 1 --dataset_name d {words}\n"
    )
    project(tmp_path, {"run.sh": launch, "train_text_to_image.py": program})
    assert bool(places(tmp_path)) is expected


def test_the_default_of_a_parameter(tmp_path: Path) -> None:
    program = (
        "from transformers import TrainingArguments\n\n"
        "def setup(fp16: bool = True, bf16: bool = False):\n"
        "    TrainingArguments('o', fp16=fp16, bf16=bf16)\n    model.setup(1)\n\n"
        "setup(bf16=True)\n"
    )
    project(tmp_path, {"train.py": program})
    assert [name for name, _ in places(tmp_path)] == ["train.py"]
    project(tmp_path, {"train.py": program + "setup(fp16=False)\n"})
    assert not places(tmp_path)


HYDRA = """\
import hydra
from transformers import TrainingArguments

@hydra.main(config_path="conf", config_name="main", version_base=None)
def main(cfg):
    TrainingArguments("o", fp16=cfg.train.fp16, bf16=cfg.train.get("bf16"))

main()
"""


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("train.fp16=true", ("run.sh", 1)),
        ("++train.fp16=true", ("run.sh", 1)),
        ("train.fp16=true train.bf16=false", None),
        ("train.fp16=$X", None),
        ("", None),
        ("--config-name other", ("other.yaml", 3)),
        ("-cn other train.bf16=false", None),
        ("group=b train.fp16=true", None),
    ],
)
def test_what_hydra_composes(tmp_path: Path, words: str, place: tuple[str, int] | None) -> None:
    files = {
        "train.py": HYDRA,
        "conf/main.yaml": "train:\n  fp16: false\n  bf16: true\n",
        "conf/other.yaml": "train:\n  fp16: true\n  bf16: true\n",
        "conf/group/b.yaml": "x: 1\n",
        "run.sh": f"python train.py {words} # fp16\n",
    }
    project(tmp_path, files)
    assert places(tmp_path) == [place] * (place is not None)


REST = """\
import fire
import yaml
from transformers import TrainingArguments

def settings(path, **more):
    with open(path) as file:
        config = yaml.load(file, Loader=yaml.FullLoader)
    return dict(config, **more)

class Run:
    def __init__(self, fp16, **rest):
        self.fp16 = fp16
        self.bf16 = rest.get("bf16", False)

    def start(self):
        TrainingArguments("o", fp16=self.fp16, bf16=self.bf16)

def train(config="conf/a.yaml", **kwargs):
    cfg = settings(config, **kwargs)
    Run(**cfg).start()

fire.Fire(train)
"""


@pytest.mark.parametrize(
    ("words", "is_found"),
    [
        ("--config conf/a.yaml", True),
        ("--config conf/a.yaml --fp16 False", False),
        ("--config conf/b.yaml", False),
        ("--config conf/b.yaml --bf16 True", True),
    ],
)
def test_the_rest_of_the_keywords(tmp_path: Path, words: str, is_found: bool) -> None:
    config = "fp16: true\nbf16: {}\nseed: 1\n"
    files = {
        "run.sh": f"python train.py {words}\n",
        "train.py": REST,
        "conf/a.yaml": config.format("true"),
        "conf/b.yaml": config.format("false"),
    }
    project(tmp_path, files)
    assert bool(found(tmp_path, "run.sh", "conf/a.yaml", "conf/b.yaml")) is is_found
