"""GitLab's code quality report."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.finding import Finding, Position, Severity
from precision_lint.report.fingerprint import fingerprints
from precision_lint.report.json_report import dumps
from precision_lint.report.model import Report

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report) -> Iterator[str]:
    """One array of all findings."""
    marks = fingerprints(report)
    issues = [
        _issue(finding, mark, report) for finding, mark in zip(report.findings, marks, strict=True)
    ]
    yield dumps(issues, indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str, report: Report) -> dict[str, object]:
    return {
        "check_name": finding.name,
        "description": f"{finding.code}: {finding.message}",
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": report.relative(finding.place.path),
            "positions": {
                "begin": _position(finding.place.start),
                "end": _position(finding.place.end),
            },
        },
    }


def _position(position: Position) -> dict[str, int]:
    return {"line": position.row, "column": position.column}
