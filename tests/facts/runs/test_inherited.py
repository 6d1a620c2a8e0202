"""Members of objects that a class has of another one, and other names of classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

BASE = """\
class Base:
    def __init__(self, args, device="cuda"):
        self.args = args
        self.device = device
"""
TASK = """\
import torch
from base import Base

class Task(Base):
    def train(self, batches):
        for batch in batches:
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.args.use_amp):
                self.model(batch)
"""
RUN = """\
import argparse
from task import Task

parser = argparse.ArgumentParser()
parser.add_argument("--use_amp", action="store_true")
parser.add_argument("--other", action="store_true")
args = parser.parse_args()
Task(args).train([])
"""
FOUND = "off by default; bfloat16 with --use_amp (autocast, task.py:7)"


def explained(folder: Path, files: dict[str, str]) -> str:
    whole = {"pyproject.toml": "", "base.py": BASE, "task.py": TASK, "run.py": RUN, **files}
    return run("explain-config", ".", cwd=project(folder, whole)).out


INIT = "class Task(Base):\n    def __init__(self, {}):\n        super().__init__({})\n\n"
SWITCH_BASE = "class Base:\n    def __init__(self, switch):\n        self.switch = switch\n"
SWITCH = TASK.replace("self.args.use_amp", "self.switch")
UNUSED = (
    "\nclass More(Task):\n    def __init__(self, args):\n        super().__init__(unknown(args))\n"
)
FOUND_BELOW = FOUND.replace(":7", ":10")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, FOUND),
        ({"base.py": f"class Root:\n    pass\n\n{BASE.replace('Base', 'Base(Root)')}"}, FOUND),
        (
            {"base.py": f"{BASE.replace('Base', 'Root')}\nclass Base(Root):\n    pass\n"},
            FOUND,
        ),
        ({"run.py": RUN.replace("Task(args)", "Kind = Task\nKind(args)")}, FOUND),
        (
            {
                "base.py": SWITCH_BASE,
                "task.py": SWITCH.replace(
                    "class Task(Base):\n", INIT.format("args", "args.use_amp")
                ),
            },
            FOUND_BELOW,
        ),
        (
            {
                "base.py": SWITCH_BASE,
                "task.py": SWITCH,
                "run.py": RUN.replace("Task(args)", "Task(args.use_amp)"),
            },
            FOUND,
        ),
        (
            {
                "base.py": SWITCH_BASE,
                "task.py": SWITCH,
                "run.py": RUN.replace("Task(args)", "Kind = Task\nKind(args.use_amp)"),
            },
            FOUND,
        ),
        (  # a class that nothing calls gives the base something else
            {
                "base.py": SWITCH_BASE,
                "task.py": SWITCH + UNUSED,
                "run.py": RUN.replace("Task(args)", "Task(args.use_amp)"),
            },
            FOUND,
        ),
    ],
)
def test_a_member_that_a_class_above_assigns(
    files: dict[str, str], found: str, tmp_path: Path
) -> None:
    assert found in explained(tmp_path, files)


FAST = "\nclass Fast(Task):\n    def fast(self):\n        self.switch = True\n"


@pytest.mark.parametrize(
    "files",
    [
        # Another class below assigns it, and may be the one that runs.
        {
            "base.py": SWITCH_BASE,
            "task.py": SWITCH + FAST,
            "run.py": RUN.replace("Task(args)", "Task(args.use_amp)"),
        },
        # Two classes have the name of the base.
        {
            "base.py": SWITCH_BASE,
            "task.py": f"{SWITCH}\ndef make():\n    class Base:\n        pass\n",
            "run.py": RUN.replace("Task(args)", "Task(args.use_amp)"),
        },
        # The base is one of a library.
        {
            "task.py": SWITCH.replace("from base", "from lib"),
            "run.py": RUN.replace("Task(args)", "Task(args.use_amp)"),
        },
        # The base assigns two values.
        {
            "base.py": f"{SWITCH_BASE}        if unknown():\n            self.switch = False\n",
            "task.py": SWITCH,
            "run.py": RUN.replace("Task(args)", "Task(args.use_amp)"),
        },
        # The class assigns it itself.
        {
            "base.py": SWITCH_BASE,
            "task.py": SWITCH.replace(
                "class Task(Base):\n",
                "class Task(Base):\n    def start(self):\n        self.switch = unknown()\n\n",
            ),
            "run.py": RUN.replace("Task(args)", "Task(args.use_amp)"),
        },
        # What the base gets is something else.
        {
            "base.py": SWITCH_BASE,
            "task.py": SWITCH,
            "run.py": RUN.replace("Task(args)", "Task(args.other)"),
        },
        {
            "base.py": SWITCH_BASE,
            "task.py": SWITCH.replace(
                "class Task(Base):\n", INIT.format("args", "unknown(args)")
            ),
        },
        # The calls give different values.
        {
            "base.py": SWITCH_BASE,
            "task.py": SWITCH,
            "run.py": RUN.replace("Task(args)", "Task(False)\nTask(args.use_amp)"),
        },
        # The other name is that of several classes.
        {
            "base.py": SWITCH_BASE,
            "task.py": f"{SWITCH}\nclass Plain(Base):\n    pass\n",
            "run.py": RUN.replace(
                "Task(args)", "Kind = Plain\nif args.other:\n    Kind = Task\nKind(args.use_amp)"
            ),
        },
    ],
)  # fmt: skip
def test_a_member_of_which_more_may_be_so(files: dict[str, str], tmp_path: Path) -> None:
    out = explained(tmp_path, files)
    assert "bfloat16 with --use_amp" not in out


BOTH = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true"{})
parser.add_argument("--no-amp", action="store_false"{})
args = parser.parse_args()
with torch.autocast("cuda", dtype=torch.bfloat16, enabled=args.amp):
    pass
"""


def test_two_flags_of_one_option(tmp_path: Path) -> None:
    text = BOTH.format(", default=True", ', dest="amp"')
    out = run("explain-config", ".", cwd=project(tmp_path, {"train.py": text})).out
    assert out.count("bfloat16 by default; off with --no-amp (autocast, train.py:8)") == 2


@pytest.mark.parametrize(
    ("first", "second"), [("", ', dest="amp"'), (', default=unknown()', ', dest="amp"')]
)  # fmt: skip
def test_two_flags_with_different_defaults(first: str, second: str, tmp_path: Path) -> None:
    out = run(
        "explain-config", ".", cwd=project(tmp_path, {"train.py": BOTH.format(first, second)})
    ).out
    assert "by default" not in out


SETTINGS = """\
from dataclasses import dataclass

@dataclass
class CommonConfig:
    use_amp: bool = False

@dataclass
class SpecialConfig(CommonConfig):
    steps: int = 1
"""
USES = """\
import torch
from settings import {0}

if __name__ == "__main__":
    config = {1}
    with torch.autocast("cuda", dtype=torch.float16, enabled=config.use_amp):
        pass
"""
OF_FIELD = "(autocast, train.py:6"


def of_field(folder: Path, program: str, settings: str = SETTINGS) -> str:
    files = {"pyproject.toml": "", "settings.py": settings, "train.py": program}
    return run("explain-config", ".", cwd=project(folder, files)).out


@pytest.mark.parametrize(
    ("program", "settings"),
    [
        (USES.format("SpecialConfig", "SpecialConfig()"), SETTINGS),
        (USES.format("SpecialConfig", "SpecialConfig(steps=3)"), SETTINGS),
        (USES.format("SpecialConfig", "HfArgumentParser(SpecialConfig).parse()"), SETTINGS),
        (
            USES.format("MostConfig", "MostConfig()"),
            f"{SETTINGS}\n@dataclass\nclass MostConfig(SpecialConfig):\n    lr: float = 1.0\n",
        ),
    ],
)
def test_a_field_of_a_class_that_others_extend(program: str, settings: str, tmp_path: Path) -> None:
    out = of_field(tmp_path, program, settings)
    assert OF_FIELD in out
    assert "no program is seen to make" not in out


@pytest.mark.parametrize(
    ("program", "settings"),
    [
        (USES.format("SpecialConfig", "SpecialConfig(use_amp=True)"), SETTINGS),
        (USES.format("SpecialConfig", "load(Unknown)"), SETTINGS),
        (
            USES.format("OtherConfig", "OtherConfig()"),
            f"{SETTINGS}\nclass OtherConfig:\n    pass\n",
        ),
        (USES.format("SpecialConfig", "SpecialConfig()"), f"{SETTINGS}    use_amp: bool = True\n"),
        (
            USES.format("OtherConfig", "OtherConfig()"),
            f"{SETTINGS}\nclass OtherConfig(Uncommon):\n    pass\n",
        ),
        (
            USES.format("OtherConfig", "OtherConfig()"),
            f"{SETTINGS}\nclass OtherConfig(Output[int, CommonConfig]):\n    pass\n",
        ),
        (
            USES.format(
                "SpecialConfig", "SpecialConfig(use_amp=1)\n    config = CommonConfig(use_amp=True)"
            ),
            SETTINGS,
        ),
    ],
)
def test_a_field_whose_default_counts_for_nothing(
    program: str, settings: str, tmp_path: Path
) -> None:
    out = of_field(tmp_path, program, settings)
    assert "settings.py:5" in out
    rows = [row for row in out.splitlines() if "settings.py:5" in row]
    assert not any(f"by default {OF_FIELD}" in row for row in rows)


SHARED = """\
import argparse

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use_amp", action="store_true")
    return parser.parse_args()
"""
RUNS = """\
import torch
from options import options

if __name__ == "__main__":
    args = options()
    with torch.autocast("cuda", dtype=torch.float16, enabled=args.use_amp):
        pass
"""


def test_the_program_that_trains_comes_first(tmp_path: Path) -> None:
    files = {"options.py": SHARED, "evaluate.py": RUNS, "train.py": RUNS}
    out = run("explain-config", ".", cwd=project(tmp_path, files)).out
    assert "off by default; float16 with --use_amp (autocast, train.py:6)" in out
    assert "evaluate.py" not in out
