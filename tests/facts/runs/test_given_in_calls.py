"""Files that a program gives to a framework by their paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

SETTINGS = '{"train_batch_size": 8, "zero_optimization": {"stage": 2}, "bf16": {"enabled": true}}\n'
PROGRAM = """\
import argparse
import os
import deepspeed

parser = argparse.ArgumentParser()
parser.add_argument("--settings", default="conf/ds.json")
parser.add_argument("--eval", action="store_true")
args = parser.parse_args()
SETTINGS = "conf/ds.json"
model = load()
{}
"""
READ = "conf/ds.json: DeepSpeed, read by train.py\n"


def out(line: str, tmp_path: Path, folder: str = "") -> str:
    files = {"conf/ds.json": SETTINGS, f"{folder}train.py": PROGRAM.format(line)}
    return explained(tmp_path, files)


@pytest.mark.parametrize(
    "line",
    [
        'engine, *_ = deepspeed.initialize(model=model, config="conf/ds.json")',
        'engine, *_ = deepspeed.initialize(model=model, config_params="conf/ds.json")',
        "engine, *_ = deepspeed.initialize(model=model, config=SETTINGS)",
        "engine, *_ = deepspeed.initialize(model=model, config=args.settings)",
        "def start(path):\n    deepspeed.initialize(model=model, config=path)\nstart(SETTINGS)",
    ],
)
def test_the_program_reads_it(line: str, tmp_path: Path) -> None:
    assert READ in out(line, tmp_path)


def test_a_path_from_the_root_in_a_program_elsewhere(tmp_path: Path) -> None:
    text = out('deepspeed.initialize(model=model, config="conf/ds.json")', tmp_path, "src/")
    assert "conf/ds.json: DeepSpeed, read by src/train.py\n" in text


@pytest.mark.parametrize(
    "line",
    [
        'deepspeed.initialize(model=model, config="other/ds.json")',
        'deepspeed.initialize(model=model, config="conf/other.json")',
        "deepspeed.initialize(model=model, config=settings_of(SETTINGS))",
        'deepspeed.initialize(model=model, config=os.environ["DS"])',
        "deepspeed.initialize(model=model, training_data=SETTINGS)",
        "other.initialize(model=model, config=SETTINGS)",
        "print(SETTINGS)",
        "if args.eval:\n    deepspeed.initialize(model=model, config=SETTINGS)",
        "if enough():\n    deepspeed.initialize(model=model, config=SETTINGS)",
        "def start():\n    deepspeed.initialize(model=model, config=SETTINGS)",
        "# deepspeed.initialize(model=model, config=SETTINGS)",
    ],
)
def test_what_is_not_seen_to_give_it(line: str, tmp_path: Path) -> None:
    assert "read by" not in out(line, tmp_path)
