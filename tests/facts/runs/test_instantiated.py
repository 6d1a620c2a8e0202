"""Sections of which a program makes objects of frameworks with Hydra."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

TRAIN = """\
import hydra
from omegaconf import DictConfig

def train(cfg):
    model = hydra.utils.instantiate(cfg.model)
    trainer = hydra.utils.instantiate(cfg.trainer, logger=None)
    trainer.fit(model)

@hydra.main(version_base="1.3", config_path="../configs", config_name="train")
def main(cfg: DictConfig):
    train(cfg)

if __name__ == "__main__":
    main()
"""
TARGET = "_target_: lightning.pytorch.trainer.Trainer\n"
FILES = {
    "src/train.py": TRAIN,
    "configs/train.yaml": "defaults:\n  - _self_\n  - trainer: default\n  - experiment: null\n",
    "configs/trainer/default.yaml": f"{TARGET}max_epochs: 3\n",
    "configs/experiment/wide.yaml": (
        "# @package _global_\nseed: 1\ntrainer:\n  precision: bf16-mixed\n  max_steps: 9\n"
    ),
}
WIDE = "wide.yaml:4: Lightning, read by src/train.py with `experiment=wide`"


def test_the_section_of_an_experiment(tmp_path: Path) -> None:
    out = explained(tmp_path, FILES)
    assert WIDE in out
    assert "precision = bf16-mixed  configs/experiment/wide.yaml:4" in out
    assert "not understood" not in out


def test_a_file_of_the_group(tmp_path: Path) -> None:
    half = "defaults:\n  - default\nprecision: 16-mixed\n"
    out = explained(tmp_path, FILES | {"configs/trainer/half.yaml": half})
    assert "trainer/half.yaml: Lightning, read by src/train.py with `trainer=half`" in out
    assert "precision = 16-mixed  configs/trainer/half.yaml:3" in out


def test_what_the_program_composes_without_a_word(tmp_path: Path) -> None:
    default = f"{TARGET}max_epochs: 3\naccelerator: gpu\nprecision: 16-mixed\n"
    out = explained(tmp_path, FILES | {"configs/trainer/default.yaml": default})
    assert "configs/trainer/default.yaml: Lightning, read by src/train.py\n" in out
    assert "by its keys" not in out


@pytest.mark.parametrize(
    "files",
    [
        {"src/train.py": TRAIN.replace("instantiate(cfg.trainer, logger=None)", "made(cfg)")},
        {"src/train.py": TRAIN.replace("import hydra\n", "import hydra\nimport own\n").replace(
            "hydra.utils.instantiate(cfg.t", "own.instantiate(cfg.t")},
        {"src/train.py": TRAIN.replace("cfg.trainer,", "cfg.training,")},
        {"configs/trainer/default.yaml": "_target_: src.loops.Trainer\nmax_epochs: 3\n"},
        {"configs/trainer/default.yaml": "max_epochs: 3\n"},
        {"configs/trainer/other.yaml": "_target_: transformers.TrainingArguments\nfp16: true\n"},
        {"configs/experiment/wide.yaml": FILES["configs/experiment/wide.yaml"].partition("\n")[2]},
    ],
)  # fmt: skip
def test_what_is_not_seen_to_be_made_of_it(files: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, FILES | files)
    assert "wide.yaml:4: Lightning" not in out
    assert "wide.yaml:3: Lightning" not in out
    assert "experiment=wide" not in out


def test_an_experiment_that_changes_nothing_of_precision_has_no_row(tmp_path: Path) -> None:
    default = f"{TARGET}max_epochs: 3\nprecision: 16-mixed\n"
    wide = "# @package _global_\nseed: 1\ntrainer:\n  max_steps: 9\n"
    files = {"configs/trainer/default.yaml": default, "configs/experiment/wide.yaml": wide}
    assert "wide.yaml" not in explained(tmp_path, FILES | files)


UNPACKING = """\
import hydra
import lightning.pytorch as pl
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

def train(cfg):
    {made}
    trainer = pl.Trainer(**{given})
    trainer.fit(instantiate(cfg.model))

@hydra.main(version_base="1.3", config_path="../configs", config_name="train")
def main(cfg: DictConfig):
    train(cfg)

if __name__ == "__main__":
    main()
"""
OWN = {
    "configs/train.yaml": (
        "defaults:\n  - _self_\n  - trainer: default\n  - experiment: narrow\nmode: train\n"
    ),
    "configs/trainer/default.yaml": "max_epochs: 3\naccelerator: gpu\n",
    "configs/trainer/cpu.yaml": "max_epochs: 3\naccelerator: cpu\n",
    "configs/experiment/narrow.yaml": (
        "# @package _global_\ndefaults:\n  - override /trainer: cpu\nseed: 1\n"
        "trainer:\n  precision: bf16-true\n"
    ),
    "configs/experiment/wide.yaml": FILES["configs/experiment/wide.yaml"],
}


@pytest.mark.parametrize(
    ("made", "given"),
    [
        ("pass", "cfg.trainer"),
        ('given = instantiate(cfg["trainer"])\n    given["callbacks"] = []', "given"),
        ("given = OmegaConf.to_container(cfg.trainer, resolve=True)", "given"),
        ("given = hydra.utils.instantiate(cfg.trainer)", "given"),
    ],
)
def test_a_section_that_is_given_as_arguments(made: str, given: str, tmp_path: Path) -> None:
    out = explained(tmp_path, OWN | {"src/train.py": UNPACKING.format(made=made, given=given)})
    assert WIDE in out
    assert "precision = bf16-mixed  configs/experiment/wide.yaml:4" in out
    assert "precision = bf16-true  configs/experiment/narrow.yaml:6" in out.replace("    ", "  ")
    assert "by its keys" not in out


@pytest.mark.parametrize(
    ("made", "given"),
    [
        ("given = choose(cfg.trainer)", "given"),
        ("given = instantiate(cfg.trainer) if cfg.mode else {}", "given"),
        ("given = instantiate(cfg.training)", "given"),
        ("given = instantiate(cfg.fast.trainer)", "given"),
        ("trainer = dict(max_epochs=3)", "trainer"),
        ("pl = own", "cfg.trainer.kwargs"),
    ],
)
def test_a_section_that_is_not_seen_to_be_given(made: str, given: str, tmp_path: Path) -> None:
    out = explained(tmp_path, OWN | {"src/train.py": UNPACKING.format(made=made, given=given)})
    assert "wide.yaml:4: Lightning, read by" not in out


def test_a_section_that_two_classes_get(tmp_path: Path) -> None:
    program = UNPACKING.format(made="own.Loop(**cfg.trainer)", given="cfg.trainer")
    out = explained(tmp_path, OWN | {"src/train.py": program})
    assert "wide.yaml:4: Lightning" not in out


@pytest.mark.parametrize("word", ["", ", precision=16", ", _convert_='all'"])
def test_what_a_section_with_a_class_gives_is_no_section(word: str, tmp_path: Path) -> None:
    made = f"given = instantiate(cfg.trainer{word})"
    files = {"configs/trainer/cpu.yaml": "_target_: own.settings\nmax_epochs: 3\n"}
    if word:
        files = {}
    program = UNPACKING.format(made=made, given="given")
    out = explained(tmp_path, OWN | files | {"src/train.py": program})
    assert "train.py:8: Lightning" not in out
