"""JSON, one finding per line."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.report.json_report import dumps, record
from precision_lint.report.model import Report


def render(report: Report) -> Iterator[str]:
    """One object for each finding."""
    for finding in report.findings:
        yield dumps(record(finding, report)) + "\n"
