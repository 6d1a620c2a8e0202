"""`LightningCLI`: the Trainer's arguments come from the command line and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.frameworks.runs import runs
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.project.files import Project
from tests.facts.frameworks.test_runs import project

PROGRAM = """\
from lightning.pytorch.cli import LightningCLI
from model import Model

def main():
    LightningCLI(Model)

if __name__ == "__main__":
    main()
"""
OWN = PROGRAM.replace("def main", "class Own(LightningCLI):\n    pass\n\ndef main").replace(
    "    LightningCLI(", "    Own("
)


def precisions(root: Path, program: str, words: str) -> list[object]:
    files = {
        "train.py": program,
        "run.sh": f"python train.py {words}\n",
        "a.yaml": "trainer:\n  precision: bf16\n  devices: 2\n",
        "b.yaml": "trainer:\n  precision: 16-mixed\n",
    }
    project(root, files)
    recording = ProjectFacts(Project(root)).recording()
    script = recording.config_files.at(root / "run.sh")
    assert script is not None
    found = [run.setting("precision") for run in runs(script, recording)]
    return [setting.value for setting in found if setting is not None]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("fit --config a.yaml", ["bf16"]),
        ("fit --config a.yaml --config b.yaml", ["16-mixed"]),
        ("fit --config a.yaml --trainer.precision=32-true", ["32-true"]),
        ("fit --trainer.precision 16-mixed", ["16-mixed"]),
        # The last one counts, and the file is the last.
        ("fit --trainer.precision 16-mixed --config a.yaml", []),
        ("fit --config $CONFIG --trainer.precision 16-mixed", []),
        ("fit $MORE --config a.yaml", []),
        ("--config a.yaml fit", []),
        ("fit --trainer t.yaml --config a.yaml", []),
    ],
)
def test_what_the_trainer_gets(tmp_path: Path, words: str, expected: list[object]) -> None:
    assert precisions(tmp_path, PROGRAM, words) == expected


def test_a_class_that_extends_it(tmp_path: Path) -> None:
    assert precisions(tmp_path, OWN, "fit --config a.yaml") == ["bf16"]


def test_a_program_with_defaults_of_its_own(tmp_path: Path) -> None:
    program = PROGRAM.replace("(Model)", "(Model, trainer_defaults=defaults)")
    assert precisions(tmp_path, program, "fit --config a.yaml") == []
