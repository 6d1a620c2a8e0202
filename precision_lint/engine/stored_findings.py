"""Findings as plain lists, to be written down as JSON and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from precision_lint.model.finding import (
    Applicability,
    CellPlace,
    Confidence,
    Edit,
    Finding,
    Fix,
    Place,
    Position,
    Related,
    Severity,
    Span,
    Witness,
)

Plain: TypeAlias = "list[Any]"


def plain(finding: Finding) -> Plain:
    """A finding as lists, strings and numbers."""
    return [
        finding.code,
        finding.name,
        finding.message,
        int(finding.severity),
        int(finding.confidence),
        _plain_place(finding.place),
        finding.why,
        _plain_fix(finding.fix) if finding.fix is not None else None,
        [_plain_related(each) for each in finding.related],
        finding.noqa_row,
        list(finding.precisions),
    ]


def finding(stored: Plain) -> Finding:
    """The finding that was stored.

    Raises:
        TypeError, ValueError: it is none.
    """
    code, name, message, severity, confidence, place, why, fix, related, row, precisions = stored
    return Finding(
        code=code,
        name=name,
        message=message,
        severity=Severity(severity),
        confidence=Confidence(confidence),
        place=_place(place),
        why=why,
        fix=_fix(fix) if fix is not None else None,
        related=tuple(_related(each) for each in related),
        noqa_row=row,
        precisions=tuple(precisions),
    )


def _plain_place(place: Place) -> Plain:
    return [str(place.path), *place.span, *place.start, *place.end, _plain_cell(place.cell)]


def _plain_cell(cell: CellPlace | None) -> Plain | None:
    return None if cell is None else [cell.number, *cell.start, *cell.end]


def _place(stored: Plain) -> Place:
    path, start, end, row, column, end_row, end_column, cell = stored
    return Place(
        Path(path),
        Span(start, end),
        Position(row, column),
        Position(end_row, end_column),
        _cell(cell) if cell is not None else None,
    )


def _cell(stored: Plain) -> CellPlace:
    number, row, column, end_row, end_column = stored
    return CellPlace(number, Position(row, column), Position(end_row, end_column))


def _plain_fix(fix: Fix) -> Plain:
    edits = [[*edit.span, edit.content] for edit in fix.edits]
    return [int(fix.applicability), fix.message, edits]


def _fix(stored: Plain) -> Fix:
    applicability, message, edits = stored
    made = (Edit(Span(start, end), content) for start, end, content in edits)
    return Fix(Applicability(applicability), message, tuple(made))


def _plain_related(related: Related) -> Plain:
    witness = related.witness
    said = None if witness is None else [witness.setting, witness.value]
    return [_plain_place(related.place), related.message, said]


def _related(stored: Plain) -> Related:
    place, message, said = stored
    return Related(_place(place), message, Witness(*said) if said is not None else None)
