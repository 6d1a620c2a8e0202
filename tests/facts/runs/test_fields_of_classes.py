"""Fields of classes of settings whose name others have as well, and calls that no run comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

CONFIG = """\
import torch
from dataclasses import dataclass

@dataclass
class WideConfig:
    width: int = 8
    dtype: torch.dtype = torch.bfloat16

@dataclass
class NarrowConfig:
    width: int = 4
    dtype: torch.dtype = torch.float16
"""
NETS = """\
import torch
from config import NarrowConfig, WideConfig

class WideNet(torch.nn.Module):
    def __init__(self, cfg{}):
        super().__init__()
        self.table = torch.nn.Embedding(cfg.width, 8, dtype=cfg.dtype)

class NarrowNet(torch.nn.Module):
    def __init__(self, cfg{}):
        super().__init__()
        self.table = torch.nn.Embedding(cfg.width, 8, dtype=cfg.dtype)
"""
TRAIN = """\
from config import NarrowConfig, WideConfig
from nets import NarrowNet, WideNet

if __name__ == "__main__":
    first = WideNet(WideConfig())
    second = NarrowNet({})
"""


@pytest.mark.parametrize("declared", [(": WideConfig", ": NarrowConfig"), ("", "")])
def test_the_object_that_is_read_tells_fields_apart(
    declared: tuple[str, str], tmp_path: Path
) -> None:
    files = {"config.py": CONFIG, "nets.py": NETS.format(*declared)}
    out = explained(tmp_path, files | {"train.py": TRAIN.format("NarrowConfig()")})
    assert "bfloat16 by default (argument of Embedding(dtype=), nets.py:7)" in out
    assert "float16 by default (argument of Embedding(dtype=), nets.py:12)" in out
    assert "not understood" not in out


def test_what_may_be_of_either_class_is_not_said(tmp_path: Path) -> None:
    files = {"config.py": CONFIG, "nets.py": NETS.format("", "")}
    out = explained(
        tmp_path, files | {"train.py": TRAIN.format("NarrowConfig() if small else WideConfig()")}
    )
    assert "nets.py:12" not in out


def test_a_class_of_which_no_object_is_made_has_no_default(tmp_path: Path) -> None:
    files = {"config.py": CONFIG, "nets.py": NETS.format(": WideConfig", ": NarrowConfig")}
    out = explained(tmp_path, files | {"train.py": TRAIN.format("load('narrow.pt')")})
    assert "nets.py:12" not in out
    assert "not understood: dtype (config.py:12)" in out


MADE = """\
import argparse
from dataclasses import dataclass
from accelerate import Accelerator

@dataclass
class TrainingConfig:
    steps: int = 10
    mixed_precision: str = "bf16"

def train(config):
    accelerator = Accelerator(mixed_precision=config.mixed_precision)

def create(folder, **kwargs):
    return TrainingConfig(**kwargs)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mixed_precision", default="fp16")
    args = parser.parse_args()
    {}
    train(TrainingConfig(mixed_precision=args.mixed_precision))
"""


def test_a_call_that_no_run_comes_to_makes_no_default(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": MADE.format("pass")})
    assert "fp16 by default (argument of Accelerator(mixed_precision=), train.py:11)" in out
    assert "default not used: each call gives it (option, train.py:8)" in out


def test_one_that_a_run_comes_to_does(tmp_path: Path) -> None:
    out = explained(tmp_path, {"train.py": MADE.format("create('out')")})
    assert "fp16 by default" not in out
    assert "each call of" not in out


def test_words_that_have_the_name_of_an_option_in_them(tmp_path: Path) -> None:
    code = """\
import argparse
import torch
{}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    region = torch.autocast("cuda", dtype=torch.float16, enabled=args.amp)
"""
    names = [f"part{number}" for number in range(30)]
    files = {f"{name}.py": "def sample(example):\n    return example\n" for name in names}
    out = explained(tmp_path, {"train.py": code.format(f"import {', '.join(names)}"), **files})
    assert "off by default; float16 with --amp" in out


GIVEN = """\
from dataclasses import dataclass
from typing import Optional

@dataclass
class NetConfig:
    width: int = 8
    kind_dtype: str = "bf16"
    {}

def build(config: Optional[NetConfig]) -> NetConfig:
    assert isinstance(config, NetConfig)
    return tool.start(config.kind_dtype, config.width)

if __name__ == "__main__":
    build(NetConfig(width=2, kind_dtype="fp16"))
    {}
"""


@pytest.mark.parametrize(
    ("method", "line", "is_given"),
    [
        ("pass", "pass", True),
        ("pass", "build(NetConfig(kind_dtype=read()))", True),
        ("pass", "build(NetConfig())", False),
        ("pass", "build(NetConfig(2, 'fp16'))", False),
        ("pass", "build(NetConfig(**read()))", False),
        ("pass", "build(load(NetConfig, 'a.json'))", False),
        ("pass", "KINDS = {'net': NetConfig}", False),
        ("def read(cls, given): return cls(**given)", "pass", False),
        ("def copy(self): return type(self)(width=1)", "pass", False),
        ("pass", "print('not a NetConfig')", True),
        ("pass", "KINDS = {'net': 'NetConfig'}", False),
        ("pass", "build(type(config)(width=1))", False),
        ("pass", "build(config.__class__(width=1))", False),
        ("pass", "import tyro; tyro.cli(build)", False),
        ("pass", "class Outer: net: NetConfig", False),
        ("pass", "def other(net: 'NetConfig'): pass", True),
        ("pass", "class Other: make = lambda self: self.__class__()", True),
    ],
)
def test_a_field_whose_default_is_never_in_force(
    method: str, line: str, is_given: bool, tmp_path: Path
) -> None:
    out = explained(tmp_path, {"train.py": GIVEN.format(method, line)})
    assert ("default not used: each call gives it" in out) is is_given
    assert "train.py:7" in out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.yaml", "net:\n  _target_: train.NetConfig\n  width: 2\n"),
        ("other.py", "from train import NetConfig as Net\nprint(Net(width=1))\n"),
        ("bench.py", "from train import NetConfig\nprint(NetConfig(width=1))\n"),
    ],
)
def test_an_object_that_another_file_makes(name: str, text: str, tmp_path: Path) -> None:
    files = {"train.py": GIVEN.format("pass", "pass")}
    assert "default not used" in explained(tmp_path, files)
    assert "default not used" not in explained(tmp_path, files | {name: text})


@pytest.mark.parametrize(
    ("decorator", "base", "is_given"),
    [
        ("", "class Base:\n    pass\n", True),
        ("@register('net')\n", "class Base:\n    pass\n", False),
        ("", "class Base:\n    def copy(self): return self.__class__(width=1)\n", False),
    ],
)
def test_a_class_that_something_else_makes(
    decorator: str, base: str, is_given: bool, tmp_path: Path
) -> None:
    code = GIVEN.format("pass", "pass").replace("class NetConfig:", "class NetConfig(Base):")
    code = code.replace("@dataclass\n", f"{base}\n{decorator}@dataclass\n")
    assert ("default not used" in explained(tmp_path, {"train.py": code})) is is_given


@pytest.mark.parametrize("is_own", [True, False])
def test_a_name_that_many_files_have(is_own: bool, tmp_path: Path) -> None:
    names = [f"part{number}" for number in range(30)]
    files = {f"{name}.py": "def cast(x, y):\n    return x.to(y.dtype)\n" for name in names}
    region = 'region = torch.autocast("cuda", dtype=getattr(torch, args.dtype))'
    code = f"import argparse\nimport torch\nimport start, {', '.join(names)}\n"
    code += 'if __name__ == "__main__":\n    parser = argparse.ArgumentParser()\n'
    code += (
        '    parser.add_argument("--dtype", default="bfloat16")\n    args = parser.parse_args()\n'
    )
    code += f"    {region if is_own else 'start.run(args)'}\n"
    files["start.py"] = f"import torch\n\ndef run(args):\n    {region}\n"
    out = explained(tmp_path, files | {"train.py": code})
    assert ("bfloat16 by default (autocast, train.py:8)" in out) is is_own
    assert ("not understood" in out) is not is_own


def test_what_another_class_always_gets_is_not_its_default(tmp_path: Path) -> None:
    files = {"config.py": CONFIG, "nets.py": NETS.format(": WideConfig", ": WideConfig")}
    code = TRAIN.format("read(NarrowConfig())").replace("WideConfig())", "WideConfig(dtype=kind))")
    out = explained(tmp_path, files | {"train.py": code})
    assert "float16 by default" not in out
    assert "not understood: dtype (config.py:12)" in out


ONE = """import torch
from dataclasses import dataclass

@dataclass
class WideConfig:
    width: int = 8
    dtype: torch.dtype = torch.bfloat16
{}

@dataclass
class Below(WideConfig):
    {}

class WideNet(torch.nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.table = torch.nn.Embedding(cfg.width, 8, dtype=cfg.dtype)

if __name__ == "__main__":
    {}
"""
SET = "    def __post_init__(self):\n        self.dtype = {}"


@pytest.mark.parametrize(
    ("method", "below", "line", "is_default"),
    [
        ("", "depth: int = 1", "WideNet(WideConfig())", True),
        ("", "depth: int = 1", "WideNet(Below())", True),
        ("", "dtype: torch.dtype = torch.float32", "WideNet(Below())", False),
        ("", "dtype: torch.dtype = torch.float32", "WideNet(WideConfig()), Below()", True),
        ("", "depth: int = 1", "WideNet(WideConfig(8))", True),
        ("", "depth: int = 1", "WideNet(WideConfig(8, torch.float32))", False),
        ("", "depth: int = 1", "WideNet(WideConfig(8, dtype=torch.float32))", False),
        ("", "depth: int = 1", "WideNet(Below(8, torch.float32))", False),
        (SET.format("torch.float32"), "depth: int = 1", "WideNet(WideConfig())", False),
        (SET.format("cast(self.dtype)"), "depth: int = 1", "WideNet(WideConfig())", True),
    ],
)
def test_defaults_that_an_object_has(
    method: str, below: str, line: str, is_default: bool, tmp_path: Path
) -> None:
    out = explained(tmp_path, {"train.py": ONE.format(method, below, line)})
    assert ("bfloat16 by default (argument of Embedding(dtype=)" in out) is is_default
    assert "train.py:7" in out


def test_programs_that_make_objects_are_looked_at_first(tmp_path: Path) -> None:
    only_importing = 'from config import WideConfig\n\nif __name__ == "__main__":\n    main()\n'
    files = {f"a{number}.py": only_importing for number in range(5)}
    files |= {"config.py": CONFIG, "nets.py": NETS.format(": WideConfig", ": NarrowConfig")}
    out = explained(tmp_path, files | {"zz.py": TRAIN.format("NarrowConfig()")})
    assert "config.py: PyTorch, read by zz.py" in out
    assert "bfloat16 by default (argument of Embedding(dtype=), nets.py:7)" in out


def test_a_declared_parameter_is_what_it_says(tmp_path: Path) -> None:
    other = "from config import NarrowConfig\n\ndef WideNet(cfg):\n    return cfg.width\n"
    other += "\ndef measure():\n    return WideNet(NarrowConfig())\n"
    files = {"config.py": CONFIG, "other.py": other}
    train = "import other\n" + TRAIN.format("NarrowConfig()") + "    other.measure()\n"
    files["train.py"] = train
    for declared, is_known in ((": WideConfig", True), ("", False)):
        out = explained(tmp_path, files | {"nets.py": NETS.format(declared, ": NarrowConfig")})
        assert ("bfloat16 by default (argument of Embedding(dtype=), nets.py:7)" in out) is is_known


SHARED = """\
from dataclasses import dataclass

@dataclass
class TrainConfig:
    lr: float
    mixed_precision: str = "bf16"
"""
RUNS = """\
import torch

def run(config):
    dtype = torch.bfloat16 if config.mixed_precision == "bf16" else torch.float16
    with torch.autocast("cuda", dtype=dtype):
        pass
"""
STARTS = """\
from loop import run
from settings import TrainConfig

def main():
    run(TrainConfig(lr=0.1{}))

if __name__ == "__main__":
    main()
"""


def test_a_default_that_one_program_leaves_and_others_replace(tmp_path: Path) -> None:
    given = STARTS.format(', mixed_precision="fp16"')
    files = {"settings.py": SHARED, "loop.py": RUNS, "finetune.py": STARTS.format("")}
    files |= {f"train{number}.py": given for number in range(4)}
    out = explained(tmp_path, files)
    assert "bfloat16 by default (autocast, loop.py:5)" in out
    assert "gives it" not in out


def test_a_default_that_all_programs_replace(tmp_path: Path) -> None:
    given = STARTS.format(', mixed_precision="fp16"')
    files = {"settings.py": SHARED, "loop.py": RUNS, "train.py": given, "finetune.py": given}
    out = explained(tmp_path, files)
    assert "default not used: each call gives it (option, settings.py:6)" in out


LOADED = """\
import yaml
from accelerate import Accelerator
from config import NarrowConfig, WideConfig

def wide(path){}:
    return WideConfig(**yaml.safe_load(open(path)))

def narrow(path):
    return NarrowConfig(**yaml.safe_load(open(path)))

def run(config: NarrowConfig):
    Model(dtype=config.dtype)

if __name__ == "__main__":
    config = {}
    Accelerator(mixed_precision=config.dtype)
    run(narrow("narrow.yaml"))
"""


@pytest.mark.parametrize(
    ("declared", "made"),
    [("", 'wide("wide.yaml")'), (" -> WideConfig", 'wide("wide.yaml")')],
)
def test_an_object_that_a_function_makes_of_a_file(
    declared: str, made: str, tmp_path: Path
) -> None:
    out = explained(tmp_path, {"config.py": CONFIG, "train.py": LOADED.format(declared, made)})
    assert "bfloat16 by default (argument of Accelerator(mixed_precision=), train.py:16)" in out
    assert "float16 by default (argument of Model(dtype=), train.py:12)" in out
    assert "not understood" not in out


@pytest.mark.parametrize("made", ["other('wide.yaml')", "wide('a') if big else narrow('b')"])
def test_what_a_function_makes_that_is_not_seen(made: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {"config.py": CONFIG, "train.py": LOADED.format("", made)})
    assert "Accelerator(mixed_precision=)" not in out


PROPERTIES = """\
from dataclasses import dataclass
import torch

@dataclass
class TrainConfig:
    precision: str = "bf16"

    @property
    def kind(self):
        return getattr(torch, self.precision)

    @property
    def wrapped(self):
        return Policy(dtype=self.kind)

@dataclass
class TestConfig{}:
    precision: str = "fp32"

    @property
    def kind(self):
        return getattr(torch, self.precision)

def main():
    train, test = TrainConfig(), TestConfig()
    Engine(dtype=train.wrapped)
    Engine(dtype=test.wrapped)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("bases", "is_said"), [("", False), ("(Other)", False), ("(TrainConfig)", True)]
)
def test_a_property_of_the_same_name_in_another_class(
    bases: str, is_said: bool, tmp_path: Path
) -> None:
    rows = explained(tmp_path, {"train.py": PROPERTIES.format(bases)}).splitlines()
    said = next(row for row in rows if "train.py:18" in row)
    assert ("(argument of Policy(dtype=)" in said) is is_said
