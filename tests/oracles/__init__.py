"""The tables held against the frameworks themselves: combinations are generated, both are asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from precision_lint.engine.job import Job
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Finding, Severity
from precision_lint.project.discovery import files
from precision_lint.project.files import Project

ABSENT = object()


def choices(**values: tuple[object, ...]) -> Iterator[dict[str, object]]:
    """Every combination of the values; a key whose value is ABSENT is left out."""
    for row in product(*values.values()):
        yield {key: value for key, value in zip(values, row, strict=True) if value is not ABSENT}


def errors(root: Path, **contents: object) -> list[Finding]:
    """What the linter calls an error in a project of these files, named `stem__suffix`.

    Text is written as it is, anything else as JSON.
    """
    (root / ".git").mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        path = root / name.replace("__", ".")
        text = content if isinstance(content, str) else json.dumps(content, indent=2)
        path.write_text(text, "utf-8")
    results = run(Job(Project(root), Settings(select=("MP7",))), files([root], root))
    assert not [result.failure for result in results if result.failure]
    return [
        finding
        for result in results
        for finding in result.findings
        if finding.severity is Severity.ERROR
    ]


def command(program: str, options: Mapping[str, object]) -> str:
    """A launch script that starts a program with options."""
    words = [f"--{key} {value}" for key, value in options.items()]
    return " \\\n    ".join([f"python {program}", *words]) + "\n"
