"""Which call of a program gets the arguments of a class that a file names by `target`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

MODEL = """\
import torch
from lib import load

class Engine(torch.nn.Module):
    def __init__(self, width, mixed_precision=False):
        super().__init__()
        self.mixed_precision = mixed_precision

    def forward(self, x):
        with torch.autocast("cuda", enabled=self.mixed_precision):
            return x * 2

    def optimizer(self, cfg):
        return load(cfg["target"])(self.parameters(), **cfg.get("params", dict()))

class Plain(Engine):
    pass

class Controlled(Engine):
    def __init__(self, path, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.path = path

class Closed(Engine):
    def __init__(self, path, **kwargs):
        super().__init__(8)
        self.path = path
"""
LOADER = """\
import importlib

def load(text):
    module, name = text.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)

def instantiate(cfg):
    return load(cfg["target"])(**cfg.get("params", dict()))
"""
TRAIN = """\
import sys
import torch, yaml
import engine
from lib import instantiate

if __name__ == "__main__":
    cfg = yaml.safe_load(open(sys.argv[1]))
    model = instantiate(cfg["model"])
"""
FILE = "model:\n  target: engine.{}\n  params:\n    width: 8\n    mixed_precision: true\n"


def _shown(target: str, folder: Path, **more: str) -> str:
    files = {"engine.py": MODEL, "lib.py": LOADER, "train.py": TRAIN, "a.yaml": FILE.format(target)}
    given = {f"{name}.py": text for name, text in more.items()}
    return explained(folder, {**files, "run.sh": "python train.py a.yaml\n", **given})


@pytest.mark.parametrize("target", ["Engine", "Plain", "Controlled"])
def test_the_class_that_is_named_decides(target: str, tmp_path: Path) -> None:
    assert "(autocast, engine.py:10)" in _shown(target, tmp_path)


@pytest.mark.parametrize("target", ["Closed", "Missing"])
def test_what_another_class_has_is_not_said(target: str, tmp_path: Path) -> None:
    shown = _shown(target, tmp_path)
    assert "autocast" not in shown
    assert "argument of" not in shown
    assert "not understood: mixed_precision" in shown


def test_two_classes_that_extend_each_other(tmp_path: Path) -> None:
    circle = "class A(B):\n    def __init__(self, **kwargs):\n        super().__init__(**kwargs)\n"
    circle += circle.replace("A(B)", "B(A)")
    assert "a.yaml" in _shown("A", tmp_path, engine=circle)


def test_the_only_call_is_named(tmp_path: Path) -> None:
    plain = TRAIN.replace("import engine\n", "")
    assert "argument of (mixed_precision=), lib.py:8" in _shown("Missing", tmp_path, train=plain)


@pytest.mark.parametrize(
    ("line", "is_handed_on"),
    [
        ("kwargs['width'] = 4", True),
        ("kwargs.pop('size', None)", True),
        ("kwargs['mixed_precision'] = False", False),
        ("kwargs.pop('mixed_precision')", False),
        ("kwargs.update(fixed)", False),
        ("kwargs = {**kwargs, 'mixed_precision': False}", False),
    ],
)
def test_a_class_that_changes_what_it_hands_on(
    line: str, is_handed_on: bool, tmp_path: Path
) -> None:
    above = "        super().__init__(*args, **kwargs)\n"
    engine = MODEL.replace(above, f"        {line}\n{above}")
    shown = _shown("Controlled", tmp_path, engine=engine)
    assert ("(autocast, engine.py:10)" in shown) is is_handed_on
