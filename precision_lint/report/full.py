"""The default format: each finding with its code, why it matters, and its fix as a diff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from precision_lint.engine import registry
from precision_lint.model.finding import Applicability, Confidence, Finding, Place
from precision_lint.report.concise import head, summary
from precision_lint.report.frame import Row, frame
from precision_lint.report.model import Report

_SIGN_TONES = {"|": "gutter", "-": "removed", "+": "added"}
_FIX_NOTES = {
    Applicability.SAFE: "",
    Applicability.UNSAFE: " (unsafe: --unsafe-fixes)",
    Applicability.DISPLAY: " (not applied)",
}


def render(report: Report) -> Iterator[str]:
    """The report, in pieces."""
    counts: Counter[str] = Counter()
    for finding in report.findings:
        counts[finding.code] += 1
        if report.most is not None and counts[finding.code] > report.most:
            continue
        for line in _finding(finding, report):
            yield line + "\n"
        yield "\n"
    hidden = counts - Counter(dict.fromkeys(counts, report.most)) if report.most else Counter()
    for code, count in sorted(hidden.items()):
        yield f"and {count} more of {code} {registry.rule(code).name}: --all shows them\n"
    yield "\n" * bool(hidden)
    yield from summary(report)


def _finding(finding: Finding, report: Report) -> Iterator[str]:
    ink = report.ink
    shown = _frame(finding.place, report, tone=str(finding.severity))
    related = [
        (other, _frame(other.place, report, tone="gutter", mark="-", context=0))
        for other in finding.related
    ]
    changed = _diffs(finding, report)
    rows = chain(shown, *(other_rows for _, other_rows in (*related, *changed)))
    digits = max((len(str(row.number)) for row in rows if row.number is not None), default=1)
    indent = " " * digits

    yield head(finding, ink, registry.rule(finding.code).url if ink.color else "")
    yield f"{indent}{ink.paint('-->', 'gutter')} {_position(finding.place, report)}"
    yield from _lines(shown, digits, report)
    for other, other_rows in related:
        position = _position(other.place, report)
        yield f"{indent}{ink.paint(':::', 'gutter')} {position}: {ink.visible(other.message)}"
        yield from _lines(other_rows, digits, report)
    note = f"{indent} {ink.paint('=', 'gutter')} "
    if finding.why:
        yield f"{note}{ink.paint('why', 'strong')}: {ink.visible(finding.why)}"
    if finding.confidence is not Confidence.HIGH:
        yield note + ink.paint(f"confidence: {finding.confidence}", "quiet")
    if fix := finding.fix:
        how = ink.visible(fix.message) + ink.paint(_FIX_NOTES[fix.applicability], "quiet")
        yield f"{ink.paint('help', 'info')}: {how}"
        for cell, cell_rows in changed:
            if cell is not None:
                yield f"{indent}{ink.paint(':::', 'gutter')} cell {cell}"
            yield from _lines(cell_rows, digits, report)


def _frame(
    place: Place, report: Report, *, tone: str, mark: str = "^", context: int = 1
) -> list[Row]:
    source = report.sources.get(place.path)
    if source is None:
        return []
    around = source.around(place)
    return frame(around, place, report.ink, tone=tone, mark=mark, context=context)


def _diffs(finding: Finding, report: Report) -> list[tuple[int | None, list[Row]]]:
    """What the fix changes, by the cells of a notebook."""
    source = report.sources.get(finding.place.path)
    if source is None or finding.fix is None:
        return []
    from precision_lint.report.diff import diff

    return [
        (cell, diff(text, edits, report.ink))
        for cell, text, edits in source.by_cell(finding.fix.edits)
    ]


def _position(place: Place, report: Report) -> str:
    return report.ink.visible(report.position(place))


def _lines(rows: list[Row], digits: int, report: Report) -> Iterator[str]:
    for row in rows:
        number = "" if row.number is None else str(row.number)
        gutter = report.ink.paint(f"{number:>{digits}}", "gutter")
        sign = report.ink.paint(row.sign, _SIGN_TONES[row.sign])
        yield f"{gutter} {sign} {row.text}".rstrip()
