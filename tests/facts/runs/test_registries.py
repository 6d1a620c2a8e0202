"""Functions and classes of registries: those that the settings do not choose do not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

KEYS = "lr: 0.1\nepochs: 3\nseed: 1\ndata: d\nuse_fp16: true\n"
REGISTRY = """\
class Registry:
    def build(self, name, settings):
        return self.table[name](settings)

MODELS = Registry()
CHECKS = Registry()
"""
SMALL = """\
import torch
from registry import {registry}

{decorator}
class Small:
    def __init__(self, settings):
        self.half = settings["use_fp16"]

    def forward(self, x):
        with torch.autocast("cuda", enabled=self.half):
            return x
"""
LARGE = """\
import torch
from registry import MODELS

{decorator}
class Large:
    def __init__(self, settings):
        self.mixed = settings["use_fp16"]

    def forward(self, x):
        with torch.cuda.amp.autocast(enabled=self.mixed):
            return inner(x)
"""
TRAIN = """\
import argparse
import yaml
import small, large
from registry import MODELS

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    settings = yaml.safe_load(open(parser.parse_args().config))
    print(settings["lr"], settings["epochs"], settings["seed"], settings["data"])
    {}

if __name__ == "__main__":
    main()
"""
BUILT = 'MODELS.build(settings["model"], settings)'
IN_SMALL, IN_LARGE = "(autocast, small.py:10)", "(autocast, large.py:10)"


def explained(tmp_path: Path, name: str, files: dict[str, str], code: str = BUILT) -> str:
    given = {
        "a.yaml": f"model: {name}\n{KEYS}",
        "registry.py": REGISTRY,
        "small.py": SMALL.format(registry="MODELS", decorator='@MODELS.register("small")'),
        "large.py": LARGE.format(decorator="@MODELS.register_module()"),
        "train.py": TRAIN.format(code),
    }
    return run("explain-config", cwd=project(tmp_path, given | files)).out


BOTH = {"large.py": LARGE.format(decorator='@MODELS.register("large")')}


def test_the_entry_that_a_file_names(tmp_path: Path) -> None:
    out = explained(tmp_path, "small", BOTH)
    assert IN_SMALL in out
    assert "large.py" not in out


def test_the_other_entry(tmp_path: Path) -> None:
    out = explained(tmp_path, "large", BOTH)
    assert IN_LARGE in out
    assert "small.py" not in out


def test_an_entry_that_nothing_names_is_one_of_several(tmp_path: Path) -> None:
    assert ", one of 2 places)" in explained(tmp_path, "other", BOTH)


def test_the_name_of_the_class_chooses_as_well(tmp_path: Path) -> None:
    decorated = {
        "small.py": SMALL.format(registry="MODELS", decorator="@MODELS.register"),
        "large.py": LARGE.format(decorator="@MODELS.register"),
    }
    out = explained(tmp_path, "Large", decorated)
    assert IN_LARGE in out
    assert "small.py" not in out


def test_a_registry_that_the_program_never_asks(tmp_path: Path) -> None:
    other = {
        "small.py": SMALL.format(registry="CHECKS", decorator='@CHECKS.register("small")'),
        "large.py": "x = 1\n",
    }
    out = explained(tmp_path, "small", other)
    assert IN_SMALL not in out
    assert "not understood: use_fp16: true (a.yaml:6); train.py is not seen to read it" in out
    asked = BUILT + "\n    CHECKS.build('small', settings)"
    assert IN_SMALL in explained(tmp_path, "small", other, asked)


def test_a_table_of_classes(tmp_path: Path) -> None:
    plain = {
        "small.py": SMALL.format(registry="MODELS", decorator=""),
        "large.py": LARGE.format(decorator=""),
        "train.py": TRAIN.format('TABLE[settings["model"]](settings)').replace(
            "def main",
            "from small import Small\nfrom large import Large\n"
            'TABLE = {"tiny": Small, "big": Large}\n\ndef main',
        ),
    }
    out = explained(tmp_path, "big", plain)
    assert IN_LARGE in out
    assert "small.py" not in out


@pytest.mark.parametrize(
    "code",
    [
        BUILT + '\n    MODELS.build("small", settings)',
        BUILT + "\n    small.Small(settings)",
        BUILT + '\n    MODELS.build(dict(type="small"), settings)',
    ],
)
def test_an_entry_that_code_takes_by_itself_runs_too(code: str, tmp_path: Path) -> None:
    large = {
        "large.py": LARGE.format(decorator='@MODELS.register("large")').replace("use_fp16", "x")
    }
    assert IN_SMALL in explained(tmp_path, "large", large, code)


def test_what_only_another_entry_calls_does_not_run(tmp_path: Path) -> None:
    function = """\
import torch
from registry import MODELS

@MODELS.register("{name}")
def {name}(settings):
    work_{name}(settings)

def work_{name}(settings):
    with torch.autocast("cuda", enabled=settings["use_fp16"]):
        pass
"""
    files = {f"{name}.py": function.format(name=name) for name in ("small", "large")}
    out = explained(tmp_path, "large", files)
    assert "large.py:9" in out
    assert "small.py" not in out


def test_the_word_of_a_command_chooses(tmp_path: Path) -> None:
    option = """parser.add_argument("--model", default="small")
    parser.add_argument("--use_fp16", action="store_true")"""
    program = TRAIN.format("MODELS.build(args.model, vars(args))").replace(
        'parser.add_argument("--config")', option
    )
    program = program.replace("settings = yaml.safe_load(open(parser.parse_args().config))", "")
    program = program.replace("print(settings", "args = parser.parse_args()  # print(settings")
    script = "python train.py --model large --use_fp16\n"
    out = explained(tmp_path, "none", BOTH | {"train.py": program, "run.sh": script})
    row = next(row for row in out.splitlines() if "--use_fp16" in row)
    assert IN_LARGE in row
    assert IN_SMALL not in out


def test_what_a_base_of_the_file_names_runs_too(tmp_path: Path) -> None:
    files = BOTH | {
        "large.py": BOTH["large.py"].replace("use_fp16", "x"),
        "base.yaml": "encoder: small\n",
        "a.yaml": f"model: large\nbase: base.yaml\n{KEYS}",
    }
    code = BUILT + '\n    MODELS.build(settings["encoder"], settings)'
    assert IN_SMALL in explained(tmp_path, "large", files, code)
    (other := tmp_path / "other").mkdir()
    assert IN_SMALL not in explained(other, "large", files | {"base.yaml": "encoder: no\n"}, code)
