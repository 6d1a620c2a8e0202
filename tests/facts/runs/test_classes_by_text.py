"""Classes that a table names by their path, beside what the class is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch
import models.loop
from tables import EasyDict

parser = argparse.ArgumentParser()
parser.add_argument("--bf16", action="store_true")
args = parser.parse_args()
settings = EasyDict()
settings.network = {}
models.loop.train(**settings)
"""
LOOP = """\
import models.net
from making import make

def train(network):
    make(**network)
"""
NET = """\
import torch

class Net(torch.nn.Module):
    def __init__(self, size=3, use_bf16=False):
        super().__init__()
        self.use_bf16 = use_bf16

    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.use_bf16):
            return self.layers(x)

class Other(torch.nn.Module):
    def __init__(self, use_bf16=False):
        super().__init__()
        self.kept = use_bf16
"""
FOUND = "(autocast, models/net.py:9)"


def out(table: str, tmp_path: Path) -> str:
    files = {
        "train.py": PROGRAM.format(table),
        "models/__init__.py": "",
        "models/loop.py": LOOP,
        "models/net.py": NET,
    }
    return explained(tmp_path, files, "train.py")


@pytest.mark.parametrize(
    "table",
    [
        'EasyDict(class_name="models.net.Net", use_bf16=args.bf16)',
        'EasyDict(use_bf16=args.bf16, size=4, class_name="models.net.Net")',
        '{"class_name": "models.net.Net", "use_bf16": args.bf16}',
        'dict(class_name="models.net.Net", use_bf16=args.bf16)',
    ],
)
def test_the_class_that_a_table_names_gets_its_entries(table: str, tmp_path: Path) -> None:
    assert FOUND in out(table, tmp_path)


@pytest.mark.parametrize(
    "table",
    [
        'EasyDict(class_name="models.net.Other", use_bf16=args.bf16)',
        'EasyDict(class_name="other.net.Net", use_bf16=args.bf16)',
        'EasyDict(class_name="torch.nn.Linear", use_bf16=args.bf16)',
        'EasyDict(class_name="Net", use_bf16=args.bf16)',
        'EasyDict(class_name="models.net.Net", size=args.bf16)',
        "EasyDict(use_bf16=args.bf16)",
        'note("models.net.Net", use_bf16=args.bf16)',
    ],
)
def test_no_other_class_gets_them(table: str, tmp_path: Path) -> None:
    assert FOUND not in out(table, tmp_path)
