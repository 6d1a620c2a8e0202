"""GitLab's code quality report."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.model.finding import Finding, Position, Severity
from precision_lint.report.fingerprint import fingerprints
from precision_lint.report.json_report import dumps
from precision_lint.report.model import Report, in_cell

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report) -> Iterator[str]:
    """One array of all findings."""
    marks = fingerprints(report)
    issues = [
        _issue(finding, mark, report) for finding, mark in zip(report.findings, marks, strict=True)
    ]
    yield dumps(issues, indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str, report: Report) -> dict[str, object]:
    start, end = finding.place.in_file
    return {
        "check_name": finding.name,
        "description": f"{finding.code}: {finding.message}{in_cell(finding.place)}",
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": report.relative(finding.place.path),
            "positions": {
                "begin": _position(start),
                "end": _position(end),
            },
        },
    }


def _position(position: Position) -> dict[str, int]:
    return {"line": position.row, "column": position.column}
