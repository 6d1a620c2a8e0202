"""Files of Hydra's groups that only a word of the command line can choose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import hydra
import torch


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(settings):
    if settings.get("speed"):
        torch.set_float32_matmul_precision(settings.speed.matmul_precision)
    print(settings.epochs, settings.lr, settings.batch)


if __name__ == "__main__":
    main()
"""
CONFIG = "defaults:\n  - _self_\n  - experiment: null\nepochs: 1\nlr: 0.1\nbatch: 2\n"
SMALL = "# @package _global_\nspeed:\n  matmul_precision: high\nlr: 0.2\nbatch: 4\nepochs: 3\n"
READ = "conf/experiment/small.yaml: PyTorch, read by train.py"
CHOSEN = " with `experiment=small`"


def explained(folder: Path, others: dict[str, str], *words: str) -> str:
    files = {"train.py": PROGRAM, "conf/config.yaml": CONFIG, "conf/experiment/small.yaml": SMALL}
    return run("explain-config", *words, cwd=project(folder, files | others)).out


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"run.sh": "python train.py experiment=large\n"},
        {"run.sh": "python train.py experiment=small_one\n"},
        {"run.sh": "python train.py other=small\n"},
        {"conf/other.yaml": "sizes:\n  - smaller\n"},
        {"README.md": "Start `train.py experiment=small` for a small model.\n"},
    ],
)
def test_nothing_chooses_it(others: dict[str, str], tmp_path: Path) -> None:
    assert f"{READ}{CHOSEN}\n" in explained(tmp_path, others)


@pytest.mark.parametrize(
    "others",
    [
        {"conf/config.yaml": CONFIG.replace("null", "small")},
        {"conf/config.yaml": CONFIG.replace("experiment: null", "experiment@_global_: small")},
        {"conf/more/a.yaml": "defaults:\n  - override /experiment: small.yaml\n"},
        {"conf/more/a.yaml": "defaults:\n  - /experiment/small\n"},
        {"conf/experiment/b.yaml": "defaults:\n  - small\n"},
        {"run.sh": "python train.py experiment=small\n"},
        {"run.sh": "python train.py -m experiment=large,small\n"},
        {"other.py": 'compose("config", overrides=["experiment=small"])\n'},
    ],
)
def test_something_may(others: dict[str, str], tmp_path: Path) -> None:
    assert CHOSEN not in explained(tmp_path, others)


def test_the_first_file_is_no_choice(tmp_path: Path) -> None:
    files = {"conf/config.yaml": CONFIG + "speed:\n  matmul_precision: high\n"}
    out = explained(tmp_path, files)
    assert "conf/config.yaml: PyTorch, read by train.py" in out
    assert "with `" not in out.partition("\n")[0]


def test_where_it_is_said_in_json(tmp_path: Path) -> None:
    (row,) = json.loads(explained(tmp_path, {}, "--output-format", "json"))
    assert row["chosen_by"] == "experiment=small"
