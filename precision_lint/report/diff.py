"""A fix as a diff for people: removed and added rows, with one row of context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import zip_longest

from precision_lint.model.finding import Edit, Span, apply_edits
from precision_lint.report.frame import EMPTY, Row, Window
from precision_lint.report.ink import Ink
from precision_lint.source.text.text import SourceText


def diff(source: SourceText, edits: Iterable[Edit], ink: Ink) -> list[Row]:
    """The rows that edits change, with their numbers after the fix."""
    rows: list[Row] = []
    shift = 0
    for hunk in _hunks(source, edits):
        first = max(1, source.position(hunk[0].span.start).row - 1)
        last_edited = source.position(max(edit.span.end for edit in hunk)).row
        last = min(len(source.line_starts), last_edited + 1)
        before = [source.line(row) for row in range(first, last + 1)]
        after = _edited(source, first, last, hunk)
        if changed := _compare(before, after, first + shift, ink):
            rows += [Row(None, "|", ink.encodable("…")), *changed] if rows else changed
        shift += len(after) - len(before)
    return [EMPTY, *rows, EMPTY] if rows else []


def _hunks(source: SourceText, edits: Iterable[Edit]) -> list[list[Edit]]:
    """The edits in order, grouped if their context rows touch."""
    hunks: list[list[Edit]] = []
    reached = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        if not hunks or source.position(edit.span.start).row > reached + 2:
            hunks.append([])
        hunks[-1].append(edit)
        reached = max(reached, source.position(edit.span.end).row)
    return hunks


def _edited(source: SourceText, first: int, last: int, edits: Iterable[Edit]) -> list[str]:
    """The rows that replace rows `first` to `last` after the edits."""
    start = source.line_starts[first - 1]
    end = source.line_starts[last - 1] + len(source.line(last))
    shifted = [
        Edit(Span(edit.span.start - start, edit.span.end - start), edit.content) for edit in edits
    ]
    after = SourceText(source.path, apply_edits(source.text[start:end], shifted))
    return [after.line(row) for row in range(1, len(after.line_starts) + 1)]


def _compare(before: list[str], after: list[str], first: int, ink: Ink) -> list[Row]:
    """Removed, added and context rows; none if only line endings differ."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    if all(tag == "equal" for tag, *_ in blocks):
        return []
    rows: list[Row] = []
    for index, (tag, i1, i2, j1, j2) in enumerate(blocks):
        if tag == "equal":
            start = j2 - 1 if index == 0 else j1
            stop = j1 + 1 if index == len(blocks) - 1 else j2
            rows += _kept(after[start:stop], first + start, ink)
        else:
            pairs = list(zip_longest(before[i1:i2], after[j1:j2], fillvalue=""))
            focus = [_first_difference(*pair) for pair in pairs]
            rows += _changed("-", None, before[i1:i2], focus, ink)
            rows += _changed("+", first + j1, after[j1:j2], focus, ink)
    return rows


def _kept(lines: list[str], first: int, ink: Ink) -> Iterator[Row]:
    for row, line in enumerate(lines, first):
        if line.strip():
            yield Row(row, "|", Window.around(0, line).show(line, ink))


def _changed(
    sign: str, first: int | None, lines: list[str], focus: list[int], ink: Ink
) -> Iterator[Row]:
    """Rows with a sign, numbered from `first` if given, cut around the difference."""
    tone = "added" if sign == "+" else "removed"
    for index, (line, offset) in enumerate(zip(lines, focus, strict=False)):
        text = ink.paint(Window.around(offset, line).show(line, ink), tone)
        yield Row(None if first is None else first + index, sign, text)


def _first_difference(before: str, after: str) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((i for i, (old, new) in pairs if old != new), min(len(before), len(after)))
