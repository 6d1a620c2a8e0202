"""Tables with names of arguments that a function builds by itself are not what settings fill."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import argparse
from transformers import AutoModel

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--double_quant", action="store_true")
    parser.add_argument("--bits", type=int)
    {}
    return AutoModel.from_pretrained("m", **load_args)

if __name__ == "__main__":
    main()
"""
GIVEN = "argument of from_pretrained(double_quant=)"


def explained(folder: Path, code: str) -> str:
    program = PROGRAM.format("\n    ".join(code.splitlines()))
    files = {"train.py": program, "run.sh": "python train.py --double_quant --bits 4\n"}
    return run("explain-config", cwd=project(folder, files)).out


@pytest.mark.parametrize(
    "code",
    [
        "load_args = {}",
        'load_args = {"device_map": "auto"}',
        "load_args = dict(device_map='auto')",
        "load_args = {}\nif parser.bits:\n    load_args.update(dict(device_map='auto'))",
        "load_args = {}\nif parser.bits:\n    load_args.update({'device_map': 'auto'})",
        "load_args = {}\nload_args.update(device_map='auto')",
        "load_args = {}\nload_args['device_map'] = 'auto'",
        "load_args = {'a': 1} if parser.bits else {'b': 1}",
    ],
)
def test_a_table_that_a_function_builds(code: str, tmp_path: Path) -> None:
    out = explained(tmp_path, code)
    assert "--double_quant" in out
    assert GIVEN not in out


@pytest.mark.parametrize(
    "code",
    [
        "load_args = vars(parser.parse_args())",
        "load_args = {**vars(parser.parse_args())}",
        "load_args = dict(**vars(parser.parse_args()))",
        "load_args = {}\nload_args.update(vars(parser.parse_args()))",
        "load_args = {}\nload_args.update(**vars(parser.parse_args()))",
        "load_args = {}\nfill(load_args, parser)",
        "load_args = {}\nfor name, value in settings():\n    load_args[name] = value",
        "load_args = {'a': 1} if parser.bits else settings()",
        "load_args = settings()",
        "load_args = {}\nload_args |= settings()",
        "for load_args in settings():\n    pass",
    ],
)
def test_a_table_that_settings_may_fill(code: str, tmp_path: Path) -> None:
    assert GIVEN in explained(tmp_path, code)


TAKES = """\
from transformers import AutoModel

def load(load_args=None):
    if load_args is None:
        load_args = {}
    return AutoModel.from_pretrained("m", **load_args)
"""


def test_a_table_that_a_function_is_given(tmp_path: Path) -> None:
    program = PROGRAM.replace("AutoModel.from", "load.from").format("load()")
    program = program.replace("from transformers import AutoModel", "from loading import load")
    program = program.replace('load.from_pretrained("m", **load_args)', "load()")
    files = {"train.py": program, "loading.py": TAKES, "run.sh": "python train.py --double_quant\n"}
    assert GIVEN in run("explain-config", cwd=project(tmp_path, files)).out
