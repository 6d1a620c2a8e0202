"""Members of `self` that branches set differently: a setting decides which of them count."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

PROGRAM = """\
import sys
import yaml

try:
    import deepspeed
    AVAILABLE = True
except ImportError:
    AVAILABLE = False

class Engine:
    def __init__(self, path):
        with open(path) as file:
            self.config = yaml.safe_load(file)
        {first}
        self.set_up()
        self.start()

    def set_up(self):
        if {test}:
            self.on = True
        else:
            self.on = {other}

    def start(self):
        if {guard}:
            return
        part = self.config["training"]
        settings = {{"bf16": {{"enabled": part["bf16"]}}, "train_batch_size": 8}}
        self.engine, *_ = deepspeed.initialize(model=None, config=settings)

if __name__ == "__main__":
    print("epochs", "lr", "seed")
    Engine(sys.argv[1])
"""
FILE = "system:\n  sharded: {}\ntraining:\n  bf16: true\n  epochs: 1\n  lr: 0.1\n  seed: 1\n"
SETTING = 'self.config["system"]["sharded"]'
NOT_USED = "not used: system.sharded is false (argument of deepspeed.initialize("
USED = "compute  bf16.enabled = true"


def explained(
    folder: Path, value: str, test: str, guard: str, other: str = "False", first: str = "pass"
) -> str:
    program = PROGRAM.format(test=test, guard=guard, other=other, first=first)
    files = {"a.yaml": FILE.format(value), "train.py": program}
    return run("explain-config", cwd=project(folder, files)).out


TESTS = [SETTING, f"AVAILABLE and {SETTING}", f'{SETTING[:-11]}.get("sharded", True)']
GUARDS = ["not self.on", 'not (hasattr(self, "on") and self.on)', "self.on is False"]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("guard", GUARDS)
def test_the_branch_that_runs_says_it(test: str, guard: str, tmp_path: Path) -> None:
    out = explained(tmp_path, "false", test, guard)
    assert NOT_USED in out
    assert USED not in out


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("guard", GUARDS)
def test_with_the_other_value_it_is_used(test: str, guard: str, tmp_path: Path) -> None:
    assert USED in explained(tmp_path, "true", test, guard)


@pytest.mark.parametrize(
    ("test", "guard", "other", "first"),
    [
        ("AVAILABLE", "not self.on", "False", "pass"),
        (f"AVAILABLE or {SETTING}", "not self.on", "False", "pass"),
        (SETTING, "not self.on", "True", "pass"),
        (SETTING, "not self.on", "AVAILABLE", "pass"),
        (SETTING, "not self.on", "False", "self.on = True"),
        (SETTING, "self.on", "False", "pass"),
    ],
)
def test_where_it_is_not_known(
    test: str, guard: str, other: str, first: str, tmp_path: Path
) -> None:
    assert USED in explained(tmp_path, "false", test, guard, other, first)


def test_a_condition_that_is_not_known_is_shown(tmp_path: Path) -> None:
    out = explained(tmp_path, "true", "AVAILABLE", "not self.on")
    assert "read by train.py, only if self.on" in out
