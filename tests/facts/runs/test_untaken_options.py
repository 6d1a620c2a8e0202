"""Options that a program declares and that no run shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import argparse
import torch

parser = argparse.ArgumentParser()
{}
args = parser.parse_args()
torch.set_default_dtype(getattr(torch, args.dtype))
"""
DTYPE = 'parser.add_argument("--dtype", default="bfloat16")'


@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        (DTYPE, 'its default, `"bfloat16"`, is not followed'),
        ('parser.add_argument("--use-amp", action="store_true")', "it is not followed"),
        ('parser.add_argument(\n    "-p", "--precision",\n)', "it is not followed"),
    ],
)
def test_an_option_that_no_command_gives_is_listed(
    declared: str, shown: str, tmp_path: Path
) -> None:
    program = PROGRAM.format(declared).replace("parser.parse_args()", "tool.parse(parser)")
    out = explained(tmp_path, {"train.py": program})
    assert "train.py: options of the program" in out
    assert shown in out


def test_so_is_a_field_of_a_class_that_a_parser_fills(tmp_path: Path) -> None:
    text = (
        "from dataclasses import dataclass\n\n@dataclass\nclass ModelArguments:\n"
        "    load_in_4bit: bool = False\n    layers: int = 2\n"
    )
    out = explained(tmp_path, {"arguments.py": text})
    assert "not understood: load_in_4bit (arguments.py:5)" in out
    assert "layers" not in out


@pytest.mark.parametrize(
    "text",
    [
        PROGRAM.format('parser.add_argument("--layers", default=2)'),
        PROGRAM.format('parser.add_argument("--dtype-file", default="a.json")'),
        "class State:\n    half: bool = True\n",
        "from dataclasses import dataclass\n\n@dataclass\nclass Batch:\n    dtype: str = 'bf16'\n",
    ],
)
def test_what_is_no_option_of_precision_is_not(text: str, tmp_path: Path) -> None:
    assert "options of the program" not in explained(tmp_path, {"train.py": text})


def test_a_default_that_a_run_shows_is_not_listed_again(tmp_path: Path) -> None:
    code = "from accelerate import Accelerator\nAccelerator(mixed_precision=args.dtype)\n"
    out = explained(tmp_path, {"train.py": PROGRAM.format(DTYPE) + code})
    assert "mixed_precision = bfloat16 by default  train.py:5" in out
    assert "options of the program" not in out


@pytest.mark.parametrize("name", ["tests/train.py", "benchmarks/train.py"])
def test_programs_of_tests_have_options_too(name: str, tmp_path: Path) -> None:
    out = explained(tmp_path, {name: PROGRAM.format(DTYPE)})
    assert f"bfloat16 by default (default dtype, {name}:7)" in out


@pytest.mark.parametrize("flag", ["-dtype", "-fp16"])
def test_an_option_with_one_dash(flag: str, tmp_path: Path) -> None:
    declared = f'parser.add_argument("{flag}", action="store_true")'
    out = explained(tmp_path, {"train.py": PROGRAM.format(declared)})
    assert f'"{flag}"' in out
    assert "train.py:5" in out


@pytest.mark.parametrize(
    "head",
    [
        "@dataclass\nclass train_config:",
        "@dataclass\nclass CFG:",
        "@configclass\nclass RunnerCfg:",
        "class Args(Tap):\n    seed: int = 1",
    ],
)
def test_classes_of_settings_by_other_names(head: str, tmp_path: Path) -> None:
    text = f"from dataclasses import dataclass\n{head}\n    use_fp16: bool = False\n"
    out = explained(tmp_path, {"train.py": text})
    assert f"not understood: use_fp16 (train.py:{text.count(chr(10))})" in out


@pytest.mark.parametrize("head", ["class reconfigured:", "class Tapestry(Tapes):"])
def test_classes_of_other_things(head: str, tmp_path: Path) -> None:
    text = f"from dataclasses import dataclass\n@dataclass\n{head}\n    use_fp16: bool = False\n"
    assert "use_fp16" not in explained(tmp_path, {"train.py": text})


FIELDS = """\
import torch
from dataclasses import dataclass, field

@dataclass
class TrainConfig:
    {}
    layers: int = 2

    def __post_init__(self):
        self.kind_dtype = "bfloat16" if torch.cuda.is_available() else "float32"

def main():
    config = TrainConfig({})
    with torch.autocast("cuda", dtype=getattr(torch, config.kind_dtype)):
        pass

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("field", "given", "reason"),
    [
        ("kind_dtype: str = field(init=False)", "", "it is set in line 10, by TrainConfig itself"),
        ("kind_dtype: str", "read()", "it has no default: each call of TrainConfig gives it"),
        (
            "kind_dtype: str = field(metadata=m)",
            "read()",
            "it has no default: each call of TrainConfig gives it",
        ),
    ],
)
def test_fields_without_a_default_are_listed(
    field: str, given: str, reason: str, tmp_path: Path
) -> None:
    out = explained(tmp_path, {"train.py": FIELDS.format(field, given)})
    assert f"not understood: kind_dtype (train.py:6); {reason}" in out
    assert "by default" not in out


def test_fields_of_classes_that_no_program_makes_are_listed(tmp_path: Path) -> None:
    text = FIELDS.format("kind_dtype: str = field(init=False)", "").replace(
        "TrainConfig()", "read()"
    )
    out = explained(tmp_path, {"train.py": text})
    assert "kind_dtype (train.py:6); no program is seen to make an object of TrainConfig" in out
    assert "by default" not in out


SCRIPT = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
{}
region = torch.autocast("cuda", dtype=torch.float16, enabled=args.amp)
"""


def test_a_script_that_parses_its_words_at_its_top_is_followed(tmp_path: Path) -> None:
    files = {"train.py": SCRIPT.format("args = parser.parse_args()")}
    (alone := tmp_path / "alone").mkdir()
    out = explained(alone, files)
    assert "off by default; float16 with --amp (autocast, train.py:7)" in out
    (used := tmp_path / "used").mkdir()
    out = explained(used, files | {"other.py": "import train\n"})
    assert "it is not followed" in out


def test_a_module_whose_caller_parses_is_not(tmp_path: Path) -> None:
    files = {"train.py": SCRIPT.format("def options():\n    args = parser.parse_args()")}
    assert "it is not followed" in explained(tmp_path, files)


PARSER = f"""\
import argparse

def parse():
    parser = argparse.ArgumentParser()
    {DTYPE}
    return parser.parse_args()
"""
USER = """\
import torch
from testing_utils import parse

if __name__ == "__main__":
    args = parse()
    torch.set_default_dtype(getattr(torch, args.dtype))
"""


def test_the_options_of_a_file_named_like_a_test_that_a_program_imports(tmp_path: Path) -> None:
    out = explained(tmp_path, {"testing_utils.py": PARSER, "infer.py": USER})
    assert "bfloat16 by default (default dtype, infer.py:6)  testing_utils.py:5" in out


def test_they_are_listed_where_they_are_not_followed(tmp_path: Path) -> None:
    code = "from testing_utils import parse\nargs = parse()\n"
    out = explained(tmp_path, {"testing_utils.py": PARSER, "infer.py": code})
    assert 'not understood: "--dtype" (testing_utils.py:5)' in out


@pytest.mark.parametrize(
    ("parser", "user", "said"),
    [
        ("testing_utils.py", "", "uncalled"),
        ("testing_utils.py", "test_infer.py", "listed"),
        ("testing_utils.py", "tests/infer.py", "listed"),
        ("testing_utils.py", "benchmarks/infer.py", "followed"),
        ("third_party/utils.py", "infer.py", "followed"),
    ],
)
def test_the_options_of_tests_and_benchmarks(
    parser: str, user: str, said: str, tmp_path: Path
) -> None:
    module = parser.removesuffix(".py").replace("/", ".")
    code = USER.replace("testing_utils", module)
    out = explained(tmp_path, {parser: PARSER} | ({user: code} if user else {}))
    row = f"{parser}:5"
    if said == "uncalled":
        assert f'not read in the project: "--dtype" ({row}); nothing calls parse' in out
    elif said == "listed":
        assert f'not understood: "--dtype" ({row})' in out
        assert "by default" not in out
    else:
        assert f"bfloat16 by default (default dtype, {user}:6)  {row}" in out


MANY = """\
from dataclasses import dataclass

@dataclass
class Config:
    use_amp: bool = True

def start(given):
    given.engine.run(given.use_amp)
"""


@pytest.mark.parametrize(
    ("last", "is_made"),
    [
        ("train(config.Config())", True),
        ("train(Config())", True),
        ("train(Other())", False),
        ("train()  # of a Config", False),
        ("isinstance(x, Config)", False),
        ("@draccus.wrap()\n    def main(given: Config): train(given)\n    main()", True),
        ("@pyrallis.wrap(path='a.yaml')\n    @log\n    def main(given: 'Config'): pass", True),
        ("@draccus.wrap()\n    def main(given: Other): train(given)\n    main()", False),
        ("@tool.log()\n    def main(given: Config): train(given)\n    main(x)", False),
        ("@draccus.wrap()\n    def main(given): train(given)\n    def other(x: Config): 1", False),
    ],
)
def test_the_program_that_names_a_class_is_asked_among_many(
    last: str, is_made: bool, tmp_path: Path
) -> None:
    begin = "import config\nfrom config import {}\nif __name__ == '__main__':\n    {}\n"
    plain = begin.format("start", "start(config)")
    files = {f"tool_{number:02}.py": plain for number in range(20)}
    files["zoo.py"] = begin.format("Config", last)
    out = explained(tmp_path, {"config.py": MANY, **files})
    assert "config.py" in out
    assert ("no program is seen to make an object of Config" in out) is not is_made


TABLE = """\
import torch
from easydict import EasyDict
shared = EasyDict()
shared.param_dtype = torch.bfloat16
shared.width = 512
shared.tables = {"dtype": "half"}
"""
FUNCTION = """\
def get_config(cfg):
    cfg.autocast_dtype = "bf16"
    cfg.dtype_path = "a.json"
    return cfg
"""


@pytest.mark.parametrize(
    ("files", "name", "row"),
    [
        ({"configs/shared.py": TABLE}, "shared.param_dtype", 4),
        ({"net/shared_config.py": TABLE}, "shared.param_dtype", 4),
        ({"configs/base.py": FUNCTION}, "cfg.autocast_dtype", 2),
    ],
)
def test_keys_of_tables_in_modules_of_settings(
    files: dict[str, str], name: str, row: int, tmp_path: Path
) -> None:
    out = explained(tmp_path, files | {"main.py": "print()\n"})
    table, path = name.partition(".")[0], next(iter(files))
    reason = f"a key of `{table}`, whose readers are not followed"
    assert f"not understood: {name} ({path}:{row}); {reason}" in out
    assert out.count("a key of") == 1


@pytest.mark.parametrize(
    "files",
    [
        {"net/shared.py": TABLE},
        {"configs/shared.py": TABLE.replace("EasyDict()", "Network()")},
        {"configs/shared.py": TABLE.replace("torch.bfloat16", "{}")},
        {"configs/base.py": FUNCTION.replace("cfg", "net")},
        {"configs/base.py": FUNCTION.replace("cfg.", "self.cfg.")},
        {"configs/base.py": FUNCTION.replace('"bf16"', '"made by hand"')},
    ],
)
def test_what_is_no_key_of_settings(files: dict[str, str], tmp_path: Path) -> None:
    assert "a key of" not in explained(tmp_path, files | {"main.py": "print()\n"})
