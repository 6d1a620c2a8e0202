"""Commands of click and typer, of which the words of a run name one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

PROGRAM = """\
import {library}
import torch

cli = {group}

{decorators[0]}
def train_model(fp16=False):
    with torch.autocast("cuda", enabled=fp16):
        fit()

{decorators[1]}
def evaluate(split="test"):
    score(split)

{call}
"""
CLICK = {
    "library": "click",
    "group": "click.Group()",
    "decorators": (
        '@cli.command("train")\n@click.option("--fp16", is_flag=True, default=False)',
        '@cli.command()\n@click.option("--split")',
    ),
    "call": "cli()",
}
TYPER = {
    "library": "typer",
    "group": "typer.Typer()",
    "decorators": ("@cli.command()", "@cli.command(name='eval')"),
    "call": "cli()",
}
REGION = "(autocast, cli.py:"


@pytest.mark.parametrize(
    ("form", "command", "is_reached"),
    [
        (CLICK, "train --fp16", True),
        (CLICK, "evaluate --fp16", False),
        (CLICK, "--verbose evaluate --fp16", False),
        (CLICK, "$1 --fp16", True),
        (CLICK, "report --fp16", True),  # of another file, perhaps
        (TYPER, "train-model --fp16", True),
        (TYPER, "eval --fp16", False),
        (TYPER, "evaluate --fp16", True),
    ],
)
def test_the_command_that_words_name_is_called(
    form: dict[str, object], command: str, is_reached: bool, tmp_path: Path
) -> None:
    files = {"cli.py": PROGRAM.format(**form), "run.sh": f"python cli.py {command}\n"}
    found = explained(tmp_path, files, "run.sh")
    assert (REGION in found) is is_reached


def test_a_command_of_another_group_is_called(tmp_path: Path) -> None:
    form = {**CLICK, "decorators": (CLICK["decorators"][0], "@other.command()")}
    files = {"cli.py": PROGRAM.format(**form), "run.sh": "python cli.py evaluate --fp16\n"}
    assert REGION in explained(tmp_path, files, "run.sh")
