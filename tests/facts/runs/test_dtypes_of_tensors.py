"""The dtype of a tensor is no setting of that name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import sys
import torch
import yaml

def train(config):
    model = make(config["size"])
    rewards = [model.rewards(each) for each in config["stages"]]
    return torch.zeros(8, dtype={})

with open("train.yaml") as file:
    train(yaml.safe_load(file))
"""


@pytest.mark.parametrize(
    ("read", "is_setting"),
    [
        ('getattr(torch, config["dtype"])', True),
        ("rewards[0].dtype", False),
        ("rewards[-1].dtype", False),
        ("next(model.parameters()).dtype", False),
    ],
)
def test_the_dtype_of_a_tensor_is_no_setting(read: str, is_setting: bool, tmp_path: Path) -> None:
    files = {"train.py": PROGRAM.format(read), "train.yaml": "size: 8\ndtype: bfloat16\n"}
    assert ("zeros(dtype=)" in explained(tmp_path, files, "train.yaml")) is is_setting
