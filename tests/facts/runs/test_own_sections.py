"""Sections of accelerate's files with the keys of a file of DeepSpeed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import project, run

ACCELERATE = """\
compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
mixed_precision: fp16
num_processes: 2
"""
SECTION = """\
deepspeed_config:
  zero_optimization:
    stage: 2
  train_micro_batch_size_per_gpu: 1
  bf16:
    enabled: true
    auto_cast: true
"""
MAKES = "from accelerate import Accelerator\naccelerator = Accelerator()\n"
LAUNCH = "accelerate launch --config_file acc.yaml train.py\n"
WHY = "accelerate reads keys of its own alone in `deepspeed_config` (acc.yaml:5)"
READS = """\
import argparse

import deepspeed
import yaml

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config_file")
    settings = yaml.safe_load(open(parser.parse_args().config_file))
    deepspeed.initialize(model=model, config=settings["deepspeed_config"])
"""


def said(folder: Path, files: dict[str, str]) -> tuple[str, list[str]]:
    """What is explained, and the codes that are reported for the files of settings."""
    root = project(folder, files)
    found = run("--select", "MP7", "--output-format", "json", cwd=root).out
    return run("explain-config", cwd=root).out, [one["code"] for one in json.loads(found)]


@pytest.mark.parametrize("script", ["", LAUNCH])
def test_nobody_gets_them(script: str, tmp_path: Path) -> None:
    files = {"acc.yaml": ACCELERATE + SECTION, "train.py": MAKES, "run.sh": script}
    out, codes = said(tmp_path, files)
    assert f"acc.yaml:6: DeepSpeed, without effect: {WHY}\n" in out
    assert "mixed_precision = fp16" in out
    assert not codes


def test_a_program_that_loads_the_file(tmp_path: Path) -> None:
    files = {
        "acc.yaml": ACCELERATE + SECTION,
        "train.py": READS,
        "run.sh": "python train.py --config_file acc.yaml\n",
    }
    out, codes = said(tmp_path, files)
    assert "without effect" not in out
    assert "MP704" in codes


@pytest.mark.parametrize(
    "files",
    [
        {"acc.yaml": ACCELERATE + SECTION.replace("deepspeed_config", "deepspeed")},
        {"acc.yaml": "seed: 1\nname: run\n" + SECTION},
        {
            "acc.yaml": f"{ACCELERATE}deepspeed_config:\n  deepspeed_config_file: ds.yaml\n",
            "ds.yaml": SECTION.replace("deepspeed_config:\n", "").replace("\n  ", "\n")[2:],
        },
    ],
)
def test_another_section_and_a_file_of_its_own(files: dict[str, str], tmp_path: Path) -> None:
    out, _ = said(tmp_path, {"train.py": MAKES + "import deepspeed\n"} | files)
    assert "bf16.enabled = true" in out
    assert "without effect" not in out
