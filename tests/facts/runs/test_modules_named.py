"""Files, or their bases, that name a class of the project by its path: what runs it reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

FILE = "base_config:\n- conf/bases/fit.yaml\nname: a\nuse_amp: true\n"
BASE = "task_cls: tasks.wide.fit.{}\nsize: 3\n"
TASK = """\
import torch
from common import hparams

class FitTask:
    def start(self, x=None):
        with torch.autocast("cuda", enabled=hparams["{}"]):
            return x
"""
START = """\
import importlib
import sys
from common import hparams, set_hparams

def main():
    package, _, name = hparams["task_cls"].rpartition(".")
    getattr(importlib.import_module(package), name)().start()

if __name__ == "__main__":
    set_hparams(sys.argv[1])
    main()
"""
COMMON = """\
import yaml

hparams = {}

def set_hparams(path):
    hparams.update(yaml.safe_load(open(path)))
"""
PLACE = "(autocast, tasks/wide/fit.py:6)"


def explained(tmp_path: Path, **files: str) -> str:
    own = {
        "conf/own/a.yaml": files.get("file", FILE),
        "conf/bases/fit.yaml": files.get("base", BASE.format("FitTask")),
        "tasks/wide/fit.py": files.get("task", TASK.format("use_amp")),
        "run.py": START,
        "common.py": COMMON,
    }
    return run("explain-config", cwd=project(tmp_path, own)).out


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"file": "task_cls: tasks.wide.fit.FitTask\nuse_amp: true\n"},
        {"file": "start:\n  what: tasks.wide.fit.FitTask\nuse_amp: true\n"},
    ],
)
def test_the_class_at_a_path(files: dict[str, str], tmp_path: Path) -> None:
    assert PLACE in explained(tmp_path, **files)


@pytest.mark.parametrize(
    "files",
    [
        {"base": BASE.format("OtherTask")},
        {"base": "task_cls: other.wide.fit.FitTask\nsize: 3\n"},
        {"base": "about: see tasks.wide.fit.FitTask for more\nsize: 3\n"},
        {"file": FILE.replace("bases/fit", "bases/none")},
        {"task": TASK.format("other_amp")},
    ],
)
def test_what_names_no_class_of_the_project(files: dict[str, str], tmp_path: Path) -> None:
    assert PLACE not in explained(tmp_path, **files)
