"""The rules that say that a line raises, over lines of transformers that ran: `tests/model_zoo`."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine import registry
from precision_lint.engine.run import Job, run
from precision_lint.engine.settings import Settings
from precision_lint.model.finding import Confidence
from precision_lint.project.files import Project
from tests.model_zoo import facts

PACKAGE = facts.installed_sources()
MOST_ROWS = 700
"""Of a file that is small enough for each run of the suite."""


@pytest.mark.skipif(PACKAGE is None, reason=f"transformers=={facts.TRANSFORMERS} is not installed")
def test_no_line_that_ran_is_said_to_raise(tmp_path: Path) -> None:
    assert PACKAGE is not None
    ran: dict[Path, set[int]] = {}
    (tmp_path / ".git").mkdir()
    for file in facts.load().files:
        source = (PACKAGE / file.path).read_bytes()
        if source.count(b"\n") <= MOST_ROWS:
            path = tmp_path / "transformers" / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source)
            ran[path] = {row for start, _, end, _ in file.spans for row in range(start, end + 1)}
    assert len(ran) > 10
    rules = tuple(rule.name for rule in registry.rules() if rule.code.startswith("MP4"))
    settings = Settings(select=rules, preview=True, min_confidence=Confidence.MEDIUM)
    results = run(Job(Project(tmp_path), settings, None), [*ran])
    wrong = [
        f"{finding.place.path.name}:{finding.place.start.row} {finding.message}"
        for result in results
        for finding in result.findings
        if finding.place.start.row in ran[finding.place.path]
    ]
    assert not wrong
