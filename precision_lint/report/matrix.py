"""The matrix as text for people: a table, what offers each precision, and the findings."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.engine import registry
from precision_lint.engine.matrix import Cell, Matrix, Row
from precision_lint.model.finding import Finding
from precision_lint.model.precision import PRECISIONS
from precision_lint.report import matrix_words as words
from precision_lint.report.ink import width
from precision_lint.report.model import Report

_WIDEST = 64
_TONES = {"ok": "added", "findings": "warning", "refused": "error", "unknown": "info"}


def render(matrix: Matrix, report: Report) -> Iterator[str]:
    """The table first; below each row what offers its precisions, then the findings."""
    if not matrix.rows:
        yield f"{words.NOTHING}\n"
    else:
        yield from _table(matrix, report)
    found = words.findings(matrix, report)
    if found:
        yield "\n" + report.ink.paint("Findings", "strong") + "\n"
    for each in found:
        yield _finding(each.finding, report)
        for precisions, rows in each.where:
            yield report.ink.visible(f"    {precisions}: {rows}") + "\n"
    if matrix.elsewhere:
        title = "Findings in code that none of these runs is seen to reach"
        yield "\n" + report.ink.paint(title, "strong") + "\n"
    for finding in matrix.elsewhere:
        yield _finding(finding, report)
    if matrix.rows:
        yield "\n" + report.ink.paint(report.ink.visible(words.LEGEND), "quiet") + "\n"


def _table(matrix: Matrix, report: Report) -> Iterator[str]:
    labels = [report.ink.visible(words.label(row.candidate, report)) for row in matrix.rows]
    margin = min(_WIDEST, max(map(width, labels))) + 2
    columns = {
        precision: max(len(words.state(row.cells[precision])) for row in matrix.rows)
        for precision in PRECISIONS
    }
    columns = {precision: max(size, len(precision)) for precision, size in columns.items()}
    head = "  ".join(f"{precision:{columns[precision]}}" for precision in PRECISIONS)
    yield report.ink.paint(f"{'':{margin}}{head}".rstrip(), "strong") + "\n"
    for row, text in zip(matrix.rows, labels, strict=True):
        cells = "  ".join(
            _painted(row.cells[precision], columns[precision], report) for precision in PRECISIONS
        )
        if width(text) + 2 > margin:
            yield f"{report.ink.paint(text, 'strong')}\n"
            text = ""
        padding = " " * (margin - width(text))
        yield f"{report.ink.paint(text, 'strong')}{padding}{cells}".rstrip() + "\n"
        for line in _below(row, report):
            yield f"  {report.ink.visible(line)}".rstrip() + "\n"


def _painted(cell: Cell, size: int, report: Report) -> str:
    text = words.state(cell)
    tone = _TONES.get(cell.state)
    return (report.ink.paint(text, tone) if tone else text) + " " * (size - len(text))


def _below(row: Row, report: Report) -> Iterator[str]:
    for precision, cell in row.cells.items():
        if text := words.offered(cell, report):
            yield f"{precision:4}  {text}"
    for text in words.not_understood(row, report):
        yield f"not understood: {text}"
    if text := words.alike(row, report):
        yield text


def _finding(finding: Finding, report: Report) -> str:
    ink = report.ink
    kind = ink.paint(str(finding.severity), str(finding.severity))
    code = ink.link(finding.code, registry.rule(finding.code).url if ink.color else "")
    place = ink.visible(report.position(finding.place))
    return f"  {kind} {code} {place}: {ink.visible(finding.message)}\n"
