"""GitHub workflow commands, which annotate the lines of a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterator

from precision_lint.model.finding import Finding, Severity
from precision_lint.report.model import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render(report: Report) -> Iterator[str]:
    """One command for each finding."""
    for finding in report.findings:
        yield _command(finding, report) + "\n"


def _command(finding: Finding, report: Report) -> str:
    start, end = finding.place.in_file
    properties: dict[str, object] = {
        "title": f"precision-lint ({finding.code})",
        "file": report.ink.visible(os.path.abspath(finding.place.path)),
        "line": start.row,
        "endLine": end.row,
    }
    if start.row == end.row:  # GitHub rejects columns for a range over several rows
        properties |= {"col": start.column, "endColumn": end.column}
    listed = ",".join(f"{key}={_escaped(value)}" for key, value in properties.items())
    lines = (f"{report.position(finding.place)}: {finding.code} {finding.message}", finding.why)
    data = "\n".join(report.ink.visible(line) for line in lines if line).translate(_DATA)
    return f"::{_COMMANDS[finding.severity]} {listed}::{data}"


def _escaped(value: object) -> str:
    return str(value).translate(_PROPERTY)
