"""The matrix as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.engine.matrix import Matrix, Row
from precision_lint.model.finding import Finding
from precision_lint.model.precision import PRECISIONS
from precision_lint.model.regex import regex
from precision_lint.report import matrix_words as words
from precision_lint.report.ink import revealed
from precision_lint.report.model import Report

_SPECIAL = regex(r"([\\`*_{}\[\]<>#|~])")


def render(matrix: Matrix, report: Report) -> Iterator[str]:
    """A table, then lists."""
    if not matrix.rows:
        yield f"{words.NOTHING}\n"
    else:
        yield f"| run | {' | '.join(PRECISIONS)} |\n|---|{'---|' * len(PRECISIONS)}\n"
    for row in matrix.rows:
        cells = (words.state(row.cells[precision]) for precision in PRECISIONS)
        yield f"| {escaped(words.label(row.candidate, report))} | {' | '.join(cells)} |\n"
    for row in matrix.rows:
        lines = list(_below(row, report))
        if lines:
            yield f"\n**{escaped(words.label(row.candidate, report))}**\n\n"
            yield from lines
    found = words.findings(matrix, report)
    if found:
        yield "\n### Findings\n\n"
    for each in found:
        where = "; ".join(f"{precisions}: {rows}" for precisions, rows in each.where)
        yield f"{_finding(each.finding, report)} ({escaped(where)})\n"
    if matrix.elsewhere:
        yield "\n### Findings in code that none of these runs is seen to reach\n\n"
    for finding in matrix.elsewhere:
        yield f"{_finding(finding, report)}\n"
    if matrix.rows:
        yield f"\n{words.LEGEND}\n"


def _below(row: Row, report: Report) -> Iterator[str]:
    for precision, cell in row.cells.items():
        if text := words.offered(cell, report):
            yield f"- {precision}: {escaped(text)}\n"
    for text in words.not_understood(row, report):
        yield f"- not understood: {escaped(text)}\n"
    if text := words.alike(row, report):
        yield f"- {escaped(text)}\n"


def _finding(finding: Finding, report: Report) -> str:
    place = escaped(report.position(finding.place))
    return f"- {finding.severity} {finding.code} {place}: {escaped(finding.message)}"


def escaped(text: str) -> str:
    """A text of the project on one line, so that nothing in it is markup."""
    return _SPECIAL.sub(r"\\\1", revealed(text))
