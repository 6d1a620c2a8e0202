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
