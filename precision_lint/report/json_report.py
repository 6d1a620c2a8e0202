"""JSON with ruff's field names, so that programs for ruff's reports can read ours."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.engine import registry
from precision_lint.model.finding import Edit, Finding, Place, Position
from precision_lint.model.regex import regex
from precision_lint.report.model import Report
from precision_lint.source.text.text import SourceText

_NOT_ASCII = regex(r"[^\x00-\x7f]")


def render(report: Report) -> Iterator[str]:
    """One array of all findings."""
    yield dumps([record(finding, report) for finding in report.findings], indent=2) + "\n"


def record(finding: Finding, report: Report) -> dict[str, object]:
    """A finding as a JSON object."""
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": str(finding.severity),
        "confidence": str(finding.confidence),
        **whole(finding.place),
        "noqa_row": finding.noqa_row,
        "url": registry.rule(finding.code).url,
        "fix": _fix(finding, report),
        "related": [
            {**start_of(related.place), "message": related.message} for related in finding.related
        ],
    }


def start_of(place: Place) -> dict[str, object]:
    """Where a place starts."""
    return {
        "filename": _filename(place.path),
        "cell": _cell(place),
        "location": _location(place.start),
    }


def whole(place: Place) -> dict[str, object]:
    """Where a place starts and ends."""
    return {**start_of(place), "end_location": _location(place.end)}


def dumps(value: object, indent: int | None = None) -> str:
    """JSON in ASCII for any stream encoding; U+FFFD for characters invalid in UTF-8."""
    return _NOT_ASCII.sub(_escaped, json.dumps(value, ensure_ascii=False, indent=indent))


def _escaped(match: re.Match[str]) -> str:
    is_surrogate = "\ud800" <= match.group() <= "\udfff"
    return "\\ufffd" if is_surrogate else json.dumps(match.group())[1:-1]


def _fix(finding: Finding, report: Report) -> dict[str, object] | None:
    """The fix; None if there is no text to compute rows and columns of its edits."""
    source = report.sources.get(finding.place.path)
    if finding.fix is None or source is None:
        return None
    return {
        "applicability": str(finding.fix.applicability),
        "message": finding.fix.message,
        "edits": [
            _edit(edit, cell, text)
            for cell, text, edits in source.by_cell(finding.fix.edits)
            for edit in edits
        ],
    }


def _edit(edit: Edit, cell: int | None, source: SourceText) -> dict[str, object]:
    return {
        "content": edit.content,
        "cell": cell,
        "location": _location(source.position(edit.span.start)),
        "end_location": _location(source.position(edit.span.end)),
    }


def _cell(place: Place) -> int | None:
    return place.cell.number if place.cell else None


def _location(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _filename(path: Path) -> str:
    return os.path.abspath(path)
