"""Fields of classes of settings that no code reads, be an object made or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

CONFIG = """\
from dataclasses import dataclass, field

@dataclass
class TrainingConfig{}:
    steps: int = 10
    use_fp16: bool = False
"""
TRAIN = """\
from config import TrainingConfig

def train(config: TrainingConfig):
    for step in range(config.steps):
        pass
    {}

if __name__ == "__main__":
    train({})
"""
FOUND = "nothing reads it (option, config.py:6)"


def explained(folder: Path, files: dict[str, str]) -> str:
    whole = {"pyproject.toml": "", "config.py": CONFIG.format("")}
    whole |= {"train.py": TRAIN.format("pass", "TrainingConfig()"), **files}
    return run("explain-config", ".", cwd=project(folder, whole)).out


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"train.py": TRAIN.format("pass", "loaded()")},
        {"train.py": TRAIN.format("pass", "TrainingConfig(use_fp16=True)")},
        {"train.py": TRAIN.format("config.use_fp16 = True", "TrainingConfig()")},
        {"other.py": "def load(use_fp16):\n    return use_fp16\n"},
        {"other.py": "class Net:\n    def run(self):\n        return self.use_fp16\n"},
        {"config.py": CONFIG.format("(BaseModel)")},
        {"other.py": "from config import TrainingConfig\n"
            "class More(TrainingConfig):\n    lr: int = 1\n"},
        {"train.py": TRAIN.format("log(**kwargs)", "TrainingConfig()")},
        {"train.py": TRAIN.format("getattr(torch, name)", "TrainingConfig()")},
        {"train.py": TRAIN.format("json.dump(asdict(config), stream)", "TrainingConfig()")},
        {"train.py": TRAIN.format("print(f'{config.__dict__}')", "TrainingConfig()")},
        {"train.py": TRAIN.format("values = vars(args)", "TrainingConfig()")},
    ],
)  # fmt: skip
def test_a_field_that_nothing_reads(files: dict[str, str], tmp_path: Path) -> None:
    assert FOUND in explained(tmp_path, files)


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAIN.format("use(config.use_fp16)", "TrainingConfig()")},
        {"train.py": TRAIN.format("use(other().use_fp16)", "TrainingConfig()")},
        {"train.py": TRAIN.format('use(getattr(config, "use_fp16"))', "TrainingConfig()")},
        {"train.py": TRAIN.format("use(getattr(config, name))", "TrainingConfig()")},
        {"train.py": TRAIN.format('use(table["use_fp16"])', "TrainingConfig()")},
        {"train.py": TRAIN.format("use(**vars(config))", "TrainingConfig()")},
        {"train.py": TRAIN.format("use(**asdict(config))", "TrainingConfig()")},
        {"train.py": TRAIN.format("use(**dataclasses.asdict(config))", "TrainingConfig()")},
        {"train.py": TRAIN.format("use(**config.__dict__)", "TrainingConfig()")},
        {"train.py": TRAIN.format("use(**config.to_dict())", "TrainingConfig()")},
        {"train.py": TRAIN.format("use(**config)", "OmegaConf.structured(TrainingConfig)")},
        {"train.py": TRAIN.format("use(instantiate(config.task))", "TrainingConfig()")},
        {"train.py": TRAIN.format(
            "for k, v in vars(config).items():\n        use(k, v)", "TrainingConfig()")},
        {"train.py": TRAIN.format(
            "for f in fields(x):\n        use(getattr(x, f.name))", "TrainingConfig()")},
        {"train.py": TRAIN.format("d = asdict(config); use(**d)", "TrainingConfig()")},
        {"train.py": TRAIN.format("steps, half = astuple(config)", "TrainingConfig()")},
        {"train.py": TRAIN.format("d = vars(config); use(**d)", "TrainingConfig()")},
        {"train.py": TRAIN.format("use(config.__dict__)", "TrainingConfig()")},
        {"train.py": TRAIN.format("d.update(asdict(config))", "TrainingConfig()")},
        {"train.py": TRAIN.format("use(OmegaConf.to_container(config))", "TrainingConfig()")},
        {"train.py": TRAIN.format(
            "match config:\n        case TrainingConfig(_, half): use(half)", "TrainingConfig()")},
        {"train.py": TRAIN.format(
            "match config:\n        case Config(use_fp16=half): use(half)", "TrainingConfig()")},
        {"config.py": CONFIG.format("(TrainingArguments)")},
        {"config.py": CONFIG.format("(Unknown)")},
        {"config.py": CONFIG.format("(TrainingConfig)")},
        {"config.py": CONFIG.format("(lib.TrainingConfig)")},
        {"train.py": "from config import TrainingConfig\n"},
        {"config.py": CONFIG.format("")
            + "\n    def __post_init__(self):\n        self.half = self.use_fp16\n"},
        {"other.py": "from config import TrainingConfig\n"
            "class More(TrainingConfig):\n    def half(self):\n        return self.use_fp16\n"},
        {"other.py": "from config import TrainingConfig\n"
            "class More(TrainingConfig, TrainingArguments):\n    pass\n"},
        {"a.yaml": "half: ${training.use_fp16}\n"},
        {"a.ipynb": '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [],'
            ' "source": ["use(config.use_fp16)"]}], "metadata": {}, "nbformat": 4,'
            ' "nbformat_minor": 5}'},
    ],
)  # fmt: skip
def test_a_field_that_something_may_read(files: dict[str, str], tmp_path: Path) -> None:
    assert "nothing reads it" not in explained(tmp_path, files)


OF_TRAINER = "from transformers import TrainingArguments as Theirs\n"


def test_a_field_that_arguments_of_a_trainer_have_besides(tmp_path: Path) -> None:
    files = {"config.py": OF_TRAINER + CONFIG.format("(Theirs)")}
    files["train.py"] = TRAIN.format("pass", "TrainingConfig()")
    assert "nothing reads it" in explained(tmp_path, files)


@pytest.mark.parametrize("imported", [OF_TRAINER, "from lib import Theirs\n"])
def test_a_trainer_reads_the_fields_of_its_own_arguments(imported: str, tmp_path: Path) -> None:
    config = CONFIG.replace("use_fp16", "fp16") if imported == OF_TRAINER else CONFIG
    files = {"config.py": imported + config.format("(Theirs)")}
    files["train.py"] = TRAIN.format("pass", "TrainingConfig()")
    assert "nothing reads it" not in explained(tmp_path, files)
