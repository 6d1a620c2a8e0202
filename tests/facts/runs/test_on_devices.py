"""Switches that ask for the device as well: `enabled=use_amp and device.type == "cuda"`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import sys, torch, yaml

def main(config, device):
    section = config["training"]
    use_amp = section["use_amp"]
    print(section["steps"], section["lr"], section["seed"])
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled={}):
        pass

if __name__ == "__main__":
    main(yaml.safe_load(open(sys.argv[1])), torch.device(sys.argv[2]))
"""
FILE = "training:\n  steps: 1\n  lr: 0.1\n  seed: 1\n  use_amp: {}\n"
PLACE = "(autocast, train.py:7"


def of(enabled: str, value: str, folder: Path) -> str:
    files = {"a.yaml": FILE.format(value), "train.py": PROGRAM.format(enabled)}
    return explained(folder, files)


@pytest.mark.parametrize(
    ("enabled", "shown"),
    [
        ('use_amp and device.type == "cuda"', "device.type == 'cuda'"),
        ('device.type == "cuda" and use_amp', "device.type == 'cuda'"),
        ('use_amp and device.type != "cpu"', "device.type != 'cpu'"),
    ],
)
def test_a_switch_that_needs_a_gpu(enabled: str, shown: str, tmp_path: Path) -> None:
    (on := tmp_path / "on").mkdir()
    assert f"bfloat16 {PLACE}, only if {shown})" in of(enabled, "true", on)
    (off := tmp_path / "off").mkdir()
    out = of(enabled, "false", off)
    assert "bfloat16" not in out
    assert "only if" not in out


@pytest.mark.parametrize(
    "enabled",
    [
        'use_amp and device.type == "mps"',
        'section["seed"] > 3 and use_amp and device.type == "mps"',
        'use_amp and device.type == "cuda" and chosen()',
        "use_amp and device",
        'not (use_amp and device.type == "cuda")',
        'use_amp and device.type != "cuda"',
        "use_amp and not torch.cuda.is_available()",
        'device.type == "cuda"',
    ],
)
def test_conditions_that_say_something_else(enabled: str, tmp_path: Path) -> None:
    assert f"bfloat16 {PLACE}" not in of(enabled, "true", tmp_path)


ISLAND = """\
import argparse, torch

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
if args.fp16:
    with torch.autocast("cuda", enabled={}):
        run(model)
"""


@pytest.mark.parametrize(("enabled", "is_computed"), [("False", False), ("True", True)])
def test_a_region_that_is_off(enabled: str, is_computed: bool, tmp_path: Path) -> None:
    files = {"train.py": ISLAND.format(enabled), "run.sh": "python train.py --fp16\n"}
    out = explained(tmp_path, files)
    assert ("compute  float16 (autocast, train.py:7" in out) is is_computed
