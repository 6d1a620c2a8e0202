"""What explain-config says of runs is what is reported, whichever files are checked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from precision_lint.engine.explain_config import explained_runs
from precision_lint.engine.job import Job
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Confidence, Finding
from precision_lint.project import discovery
from precision_lint.project.files import Project
from tests import cases
from tests.facts.frameworks.test_runs import project

ROOT = Path(__file__).resolve().parents[3]
INCIDENTS = ROOT.parent / "shared" / "cases"
"""Trees of real incidents, where they are at hand."""


def trees() -> Iterator[Path]:
    for folder in (INCIDENTS / "trees", INCIDENTS / "second" / "trees"):
        if folder.is_dir():
            yield from sorted(folder.iterdir())


def explained(root: Path) -> set[tuple[str, str, int, str]]:
    """What explain-config says of a whole project."""
    names = [path for path in files(root) if discovery.kind_of(path) != "markdown"]
    found = explained_runs(names, Project(root), (), lambda note: None, Confidence.LOW)
    return {key(one) for each in found.runs for one in each.findings}


def key(one: Finding) -> tuple[str, str, int, str]:
    return one.code, one.place.path.name, one.place.start.row, one.message


def reported(root: Path, names: list[Path]) -> set[tuple[str, str, int, str]]:
    """What is reported if some files are checked, as a hook passes them."""
    settings = Settings(select=("MP7",), min_confidence=Confidence.LOW)
    job = Job(Project(root), settings, named=frozenset(names))
    results = run(job, names)
    assert not [result.failure for result in results if result.failure]
    return {key(one) for result in results for one in result.findings}


def files(root: Path) -> list[Path]:
    return discovery.files([root], root, (), force_exclude=False, markdown=False, note=print)


def hold(root: Path) -> None:
    """The three ways to ask agree."""
    names = files(root)
    whole = reported(root, names)
    assert explained(root) == whole
    apart = {one for name in names for one in reported(root, [name])}
    assert {(code, message) for code, _, _, message in apart} == {
        (code, message) for code, _, _, message in whole
    }


@pytest.mark.parametrize("tree", trees(), ids=lambda tree: f"{tree.parents[1].name}-{tree.name}")
def test_the_trees_of_incidents(tree: Path, tmp_path: Path) -> None:
    root = tmp_path / tree.name
    shutil.copytree(tree, root)
    os.chmod(root, 0o755)
    (root / ".git").mkdir(exist_ok=True)
    hold(root)


@pytest.mark.parametrize("path", sorted(cases.FRAMEWORKS.glob("*.md")), ids=lambda path: path.stem)
def test_the_cases_of_the_tables(path: Path, tmp_path: Path) -> None:
    for number, case in enumerate(cases.load(path)):
        root = project(tmp_path / str(number), case.files)
        hold(root)
