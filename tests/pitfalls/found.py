"""What the linter says of the cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from precision_lint.engine import registry
from precision_lint.engine.run import Job, run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Finding
from precision_lint.project.discovery import files
from precision_lint.project.files import Project
from tests.pitfalls.cases import FOLDER, Case, cases
from tests.pitfalls.running import write

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PATH = FOLDER / "found.toml"
LEVELS = ("default", "preview")


def findings(project: dict[str, str], folder: Path, level: str) -> list[Finding]:
    """What is reported in a project at the default settings, or with `--preview`."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    write(project, folder)
    job = Job(Project(folder), Settings(preview=level == "preview"))
    results = run(job, files([folder], folder))
    assert not [result.failure for result in results if result.failure]
    return [finding for result in results for finding in result.findings]


def found(case: Case, folder: Path, level: str) -> list[str]:
    """The places in the bad program that a rule for this pitfall reports."""
    places = {
        f"{finding.code} {finding.place.path.relative_to(folder)}:{finding.place.start.row}"
        for finding in findings(case.bad, folder, level)
        if case.name in registry.rule(finding.code).pitfalls
    }
    return sorted(places)


def expected() -> dict[str, dict[str, list[str]]]:
    """What `found.toml` says, by level and pitfall."""
    return tomllib.loads(PATH.read_text("utf-8"))


def as_text(by_level: dict[str, dict[str, list[str]]]) -> str:
    """`found.toml`: with `--preview`, what is found in addition."""
    lines = ["# What finds each pitfall; written by `python scripts/pitfall_cases.py`."]
    for level in LEVELS:
        lines += ["", f"[{level}]"]
        for name, places in by_level[level].items():
            lines.append(f"{name} = {json.dumps(places)}")
    return "\n".join(lines) + "\n"


def counts(by_level: dict[str, dict[str, list[str]]]) -> dict[str, tuple[int, int]]:
    """How many pitfalls are found, and how many of the frequent ones: by default, and in all."""
    frequent = {case.name for case in cases() if case.is_frequent}
    default = {*by_level["default"]}
    every = default | {*by_level["preview"]}
    return {
        level: (len(names), len(names & frequent))
        for level, names in (("default", default), ("preview", every))
    }
