"""Which of several models with files of the same names a configuration is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

READER = """\
import sys
import yaml
from models.wide_net.trainer import Trainer as Wide
from models.deep_net.trainer import Trainer as Deep

config = yaml.safe_load(open(sys.argv[1]))
print(config.epochs, config.lr, config.data, config.name, config.seed)

def main():
    {}[config.name](config).train(1)

if __name__ == "__main__":
    main()
"""
TRAINER = """\
import torch
from tool import load

class Trainer:
    def __init__(self, config):
        self.config = config

    def train(self, x):
        with torch.autocast("cuda", enabled=self.config.use_{}):
            return x
"""
KEYS = "epochs: 3\nlr: 0.1\ndata: d\nname: {}\nseed: 1\nuse_amp: true\n"
FILES = {
    "train.py": READER.format("TABLE"),
    "models/wide_net/trainer.py": TRAINER.format("amp"),
    "models/deep_net/trainer.py": TRAINER.format("amp"),
}
WIDE = "(autocast, models/wide_net/trainer.py:9)"
DEEP = "(autocast, models/deep_net/trainer.py:9)"


@pytest.mark.parametrize("name", ["WideNet", "wide_net", "wide-net", "WideNet2D"])
def test_the_model_that_a_file_names(name: str, tmp_path: Path) -> None:
    out = explained(tmp_path, FILES | {"a.yaml": KEYS.format(name)})
    assert WIDE in out
    assert DEEP not in out


@pytest.mark.parametrize("name", ["Other", "wide", "WideNetAndMore", "net", "models", "1"])
def test_names_that_choose_none(name: str, tmp_path: Path) -> None:
    out = explained(tmp_path, FILES | {"a.yaml": KEYS.format(name)})
    assert DEEP.replace(")", ", one of 2 places)") in out


def test_only_a_file_at_the_same_place_is_passed_over(tmp_path: Path) -> None:
    files = FILES | {"models/wide_net/trainer.py": "from tool import Trainer\n"}
    (same := tmp_path / "same").mkdir()
    assert DEEP not in explained(same, files | {"a.yaml": KEYS.format("WideNet")})
    reader = READER.format("TABLE").replace("deep_net.trainer", "deep_net.engine")
    files = {
        "train.py": reader,
        "models/wide_net/trainer.py": "from tool import Trainer\n",
        "models/deep_net/engine.py": TRAINER.format("amp"),
    }
    (other := tmp_path / "other").mkdir()
    out = explained(other, files | {"a.yaml": KEYS.format("WideNet")})
    assert DEEP.replace("trainer", "engine") in out


CLASSES = """\
import sys
import yaml
from tool import Engine

config = yaml.safe_load(open(sys.argv[1]))
print(config.epochs, config.lr, config.data, config.name, config.seed)

class Plain:
    def forward(self, x):
        return Engine(x, use_amp=config.use_amp)

class Dual:
    def forward(self, x):
        return Engine(x, use_amp=config.use_amp)

def main():
    globals()[config.name]().train(1)
    print(Plain, Dual)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("name", "row"), [("Plain", 10), ("Dual", 14), ("Other", 10)])
def test_the_class_that_a_file_names(name: str, row: int, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": CLASSES, "a.yaml": KEYS.format(name)})
    assert f"(argument of Engine(use_amp=), train.py:{row})" in out


MODELS = """\
import torch

class {0}:
    def fit(self, x):
        with torch.autocast("cuda", enabled=self.config.use_amp):
            return x
"""
CHOOSES = """\
import sys
import yaml
import {}

config = yaml.safe_load(open(sys.argv[1]))
print(config.epochs, config.lr, config.data, config.name, config.seed)

def main():
    if is_for(config):
        made(wide.Wide, deep.Deep)(config).fit(1)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("imports", "name", "shown"),
    [
        ("wide, deep", "Wide", "(autocast, wide.py:5, only if is_for(config))"),
        ("wide, deep", "Other", ":5, one of 2 places)"),
        ("wide", "Other", "(autocast, wide.py:5, only if is_for(config))"),
    ],
)
def test_places_of_several_models(imports: str, name: str, shown: str, tmp_path: Path) -> None:
    files = {"wide.py": MODELS.format("Wide"), "deep.py": MODELS.format("Deep")}
    files |= {"train.py": CHOOSES.format(imports), "a.yaml": KEYS.format(name)}
    assert shown in explained(tmp_path, files)
