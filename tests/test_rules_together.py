"""What a rule finds does not depend on what other rules ask about.

A rule that says by syntax which calls it asks about is given others as well, where other rules ask
about calls of the same name. It must not report them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine import registry
from precision_lint.engine.run import Job, run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Confidence
from precision_lint.project.discovery import files
from precision_lint.project.files import Project
from tests import cases

ASKING = [rule.name for rule in registry.rules() if hasattr(registry.module(rule), "asks_about")]


@pytest.mark.parametrize("name", ASKING)
def test_silent_cases_stay_silent_beside_the_other_rules(name: str, tmp_path: Path) -> None:
    silent = [case for case in cases.load(cases.RULES / f"{name}.md") if not case.expected]
    for number, case in enumerate(silent):
        root = tmp_path / str(number)
        (root / ".git").mkdir(parents=True)
        for path, content in case.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, "utf-8")
        settings = Settings(preview=True, min_confidence=Confidence.MEDIUM)
        results = run(Job(Project(root), settings), files([root], root))
        found = [each for result in results for each in result.findings if each.name == name]
        assert not found, case.title
