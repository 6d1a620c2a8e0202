"""Settings that end in members of objects, which nothing reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

TRAIN = """\
import click
from nets import Net

@click.command()
@click.option("--use-fp16/--no-use-fp16", default=True)
@click.option("--lr", default=1.0)
def main(**kwargs):
    opts = EasyDict(kwargs)
    net = Net(width=3, use_fp16=opts.use_fp16)
    net.run(opts.lr)

main()
"""
NETS = """\
import torch
from torch import nn

class Base(nn.Module):
    pass

class Net(Base):
    def __init__(self, width, use_fp16=False):
        super().__init__()
        self.width = width
        self.use_fp16 = use_fp16

    def run(self, lr):
        return self.width * lr
"""
FILES = {"train.py": TRAIN, "nets.py": NETS, "run.sh": "python train.py --no-use-fp16 --lr 2\n"}
KEPT = "--no-use-fp16 (run.sh:1); kept in nets.py, line 11; nothing reads it"


def test_a_member_that_nothing_reads(tmp_path: Path) -> None:
    assert f"not read in the project: {KEPT}" in explained(tmp_path, FILES)


@pytest.mark.parametrize(
    "files",
    [
        {"nets.py": NETS.replace("self.width * lr", "self.width * lr if self.use_fp16 else 0")},
        {"nets.py": NETS.replace("self.width * lr", "getattr(self, NAMES[lr])")},
        {"nets.py": NETS.replace("self.width * lr", "vars(self)")},
        {"nets.py": NETS.replace("class Base(nn.Module)", "class Base(PretrainedModel)")},
        {"nets.py": NETS.replace("class Net", "@register\nclass Net")},
        {"nets.py": NETS.replace("= use_fp16", "= choose(use_fp16)")},
        {"nets.py": NETS.replace("self.use_fp16 = ", "self.use_fp16 = self.kind = ")},
        {"other.py": "def read(net):\n    return net.use_fp16\n"},
        {"other.py": "def read(net):\n    return getattr(net, 'use_fp16')\n"},
        {"train.py": TRAIN.replace("net.run(opts.lr)", "library.run(opts.use_fp16)")},
    ],
)
def test_a_member_that_something_may_read(files: dict[str, str], tmp_path: Path) -> None:
    assert "kept in" not in explained(tmp_path, FILES | files)
