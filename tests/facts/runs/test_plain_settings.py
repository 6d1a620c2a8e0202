"""Settings that are plain values: attributes of a class, constants of a module."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

CLASS = """\
import torch

class TrainConfig:
    width = 8
    use_amp = True
    dtype = torch.bfloat16
"""
MADE = """\
import torch
from settings import TrainConfig

def step(config, batch):
    with torch.autocast("cuda", enabled=config.use_amp, dtype=config.dtype):
        return model(batch)

def main():
    config = TrainConfig()
    scaler = torch.amp.GradScaler(enabled=config.use_amp)
    scaler.scale(step(config, batch)).backward()

if __name__ == "__main__":
    main()
"""
REGION = "bfloat16 by default (autocast, train.py:5)"


def test_attributes_of_a_class_that_a_program_makes(tmp_path: Path) -> None:
    out = explained(tmp_path, {"settings.py": CLASS, "train.py": MADE})
    assert "settings.py: PyTorch, read by train.py" in out
    assert REGION in out
    assert "settings.py:5  use_amp" in out
    assert "settings.py:6  dtype" in out
    assert "on by default (scaler, train.py:10)" in out
    assert "width" not in out
    assert "not understood" not in out


@pytest.mark.parametrize(
    "text",
    [
        CLASS.replace("TrainConfig:", "TrainConfig(object):"),
        CLASS.replace("    use", "    def __init__(self):\n        self.use").replace(
            "    dtype", "        self.dtype"
        ),
        CLASS.replace("use_amp =", "use_amp: bool ="),
    ],
)
def test_other_forms_of_such_a_class(text: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"settings.py": text, "train.py": MADE})
    assert REGION in out
    assert "not understood" not in out


def test_a_class_that_is_read_itself(tmp_path: Path) -> None:
    code = MADE.replace("config = TrainConfig()", "config = TrainConfig").replace(
        "GradScaler(enabled=config", "GradScaler(enabled=TrainConfig"
    )
    out = explained(tmp_path, {"settings.py": CLASS, "train.py": code})
    assert "on by default (scaler, train.py:10)" in out
    assert "by default (autocast, train.py:5)" in out


def test_an_object_that_the_module_makes(tmp_path: Path) -> None:
    code = MADE.replace("TrainConfig\n", "config\n", 1).replace("    config = TrainConfig()\n", "")
    files = {"settings.py": f"{CLASS}\nconfig = TrainConfig()\n", "train.py": code}
    assert "on by default (scaler, train.py:9)" in explained(tmp_path, files)


def test_getattr_with_a_fallback(tmp_path: Path) -> None:
    code = MADE.replace("enabled=config.use_amp)", 'enabled=getattr(config, "use_amp", False))')
    out = explained(tmp_path, {"settings.py": CLASS, "train.py": code})
    assert "on by default (scaler, train.py:10)" in out


@pytest.mark.parametrize(
    "change",
    [
        "config.use_amp = args.amp",
        "for name, value in vars(args).items():\n        setattr(config, name, value)",
        "config.__dict__.update(vars(args))",
    ],
)
def test_what_a_program_may_change_has_no_value(change: str, tmp_path: Path) -> None:
    code = MADE.replace("TrainConfig()\n", f"TrainConfig()\n    {change}\n")
    out = explained(tmp_path, {"settings.py": CLASS, "train.py": code})
    assert "on by default (scaler" not in out


def test_a_class_that_no_program_makes_is_listed(tmp_path: Path) -> None:
    code = MADE.replace("TrainConfig()", "load()").replace("from settings import TrainConfig", "")
    out = explained(tmp_path, {"settings.py": CLASS, "train.py": code})
    assert "not understood: use_amp (settings.py:5); no program is seen to make an object" in out
    assert "settings.py:5  use_amp" not in out


@pytest.mark.parametrize(
    "text",
    [
        CLASS.replace("TrainConfig", "TrainState"),
        CLASS.replace("TrainConfig:", "TrainConfig(PretrainedConfig):"),
        CLASS.replace("use_amp = True", "sample = True").replace("dtype = torch", "kind = jnp"),
    ],
)
def test_what_is_no_setting_of_precision_is_not_listed(text: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"settings.py": text, "other.py": "import settings\n"})
    assert "not understood" not in out
    assert "settings.py" not in out


def test_classes_with_the_same_attribute_are_told_apart(tmp_path: Path) -> None:
    other = "\nclass EvalConfig:\n    use_amp = False\n    dtype = torch.float16\n"
    code = MADE.replace("import TrainConfig", "import EvalConfig, TrainConfig").replace(
        "batch)).backward()", "batch)).backward()\n    run(EvalConfig())"
    )
    out = explained(tmp_path, {"settings.py": CLASS + other, "train.py": code})
    assert "settings.py:9  use_amp" not in out
    assert "false by default" not in out


CONSTANTS = """\
import torch

USE_AMP = True
KIND_DTYPE = torch.bfloat16
"""
READ = """\
import torch
{}

def main():
    scaler = torch.amp.GradScaler(enabled={})
    with torch.autocast("cuda", dtype={}):
        scaler.scale(model(batch)).backward()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    "forms",
    [
        ("import config", "config.USE_AMP", "config.KIND_DTYPE"),
        ("import config as cfg", "cfg.USE_AMP", "cfg.KIND_DTYPE"),
        ("from config import USE_AMP, KIND_DTYPE as kind", "USE_AMP", "kind"),
        ("from config import *", "USE_AMP", "KIND_DTYPE"),
    ],
)
def test_constants_of_a_module(forms: tuple[str, str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, {"config.py": CONSTANTS, "train.py": READ.format(*forms)})
    assert "config.py: PyTorch, read by train.py" in out
    assert "(scaler, train.py:5)" in out
    assert "bfloat16 by default (autocast, train.py:6)" in out
    assert "not understood" not in out


def test_those_of_a_module_in_a_folder_of_settings(tmp_path: Path) -> None:
    code = READ.format("from configs import base", "base.USE_AMP", "base.KIND_DTYPE")
    files = {"configs/__init__.py": "", "configs/base.py": CONSTANTS, "train.py": code}
    assert "on by default (scaler, train.py:5)" in explained(tmp_path, files)


@pytest.mark.parametrize(
    "forms",
    [
        ("import config", "args.USE_AMP", "args.KIND_DTYPE"),
        ("import config\nUSE_AMP = KIND_DTYPE = flag()", "USE_AMP", "KIND_DTYPE"),
        ("import config\nfrom other import config", "config.USE_AMP", "config.KIND_DTYPE"),
    ],
)
def test_names_that_are_others(forms: tuple[str, str, str], tmp_path: Path) -> None:
    files = {"config.py": CONSTANTS, "other.py": "", "train.py": READ.format(*forms)}
    out = explained(tmp_path, files)
    assert "config.py:3  USE_AMP" not in out
    assert "not understood: USE_AMP (config.py:3)" in out


@pytest.mark.parametrize("name", ["layers.py", "model/config_utils/layers.py"])
def test_constants_of_other_modules_are_none_of_a_run(name: str, tmp_path: Path) -> None:
    assert "USE_AMP" not in explained(tmp_path, {name: CONSTANTS})


PARSED = """\
import argparse
from faster_whisper import WhisperModel

class Config:
    DEFAULT_KIND = "float16"

    def __init__(self):
        self.kind = self.DEFAULT_KIND

    @classmethod
    def parsed(cls):
        parser = argparse.ArgumentParser()
        parser.add_argument("--kind", default={}, choices=["float16", "int8"])
        args = parser.parse_args()
        config = cls()
        config.kind = args.kind
        return config

def main():
    config = Config.parsed()
    WhisperModel("large", compute_type=config.kind)

if __name__ == "__main__":
    main()
"""
TYPE = "float16 by default (argument of WhisperModel(compute_type=), train.py:21)"


@pytest.mark.parametrize("default", ["cls.DEFAULT_KIND", "Config.DEFAULT_KIND"])
def test_an_option_whose_default_a_class_keeps(default: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PARSED.format(default)})
    assert f"{TYPE}  train.py:5 " in out
    assert 'train.py:13  "--kind"' in out
    assert "not understood" not in out


@pytest.mark.parametrize("default", ["cls.OTHER_KIND", "other.DEFAULT_KIND", "kinds.first"])
def test_a_default_that_is_not_seen_has_no_value(default: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": PARSED.format(default)})
    assert "its default (argument of WhisperModel(compute_type=), train.py:21)" in out


def test_a_value_that_another_one_replaces_elsewhere_is_a_rival(tmp_path: Path) -> None:
    program = PARSED.format("cls.DEFAULT_KIND").replace("config.kind = args.kind", "pass")
    out = explained(tmp_path, {"train.py": program})
    assert 'train.py:13  "--kind"' not in out
