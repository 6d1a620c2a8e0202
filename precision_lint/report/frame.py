"""Code frames: the rows around a place, with the place underlined."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.model.finding import Place
from precision_lint.model.frozen import frozen
from precision_lint.report.ink import Ink, width
from precision_lint.source.text.text import SourceText

_LONGEST = 120
"""Maximum characters of a row; a longer row is cut around the relevant part."""
_MOST_ROWS = 8
_KEPT_ROWS = 3


@frozen
class Row:
    """One line of a frame: the row's number, if it is a row, a sign, and visible text."""

    number: int | None
    sign: str
    text: str = ""


EMPTY = Row(None, "|")


@frozen
class Window:
    """The part of a row that is shown, as character offsets."""

    start: int
    end: int

    @classmethod
    def around(cls, focus: int, line: str) -> Window:
        """The window on `line` that shows offset `focus` with a third of the window before it."""
        start = max(0, min(focus - _LONGEST // 3, len(line) - _LONGEST))
        return cls(start, start + _LONGEST)

    def show(self, line: str, ink: Ink) -> str:
        """The part of a line inside the window."""
        return self._left(line, self.end, ink) + ink.encodable("…" * (len(line) > self.end))

    def column(self, line: str, offset: int, ink: Ink) -> int:
        """The column on the screen, from 0, of an offset in a line."""
        return width(self._left(line, min(offset, self.end), ink))

    def _left(self, line: str, end: int, ink: Ink) -> str:
        return ink.encodable("…" * (self.start > 0)) + ink.visible(line[self.start : end])


def frame(
    source: SourceText, place: Place, ink: Ink, *, tone: str, mark: str = "^", context: int = 1
) -> list[Row]:
    """The rows of a place and `context` rows around it; none if the text is too short for it."""
    if place.end.row > len(source.line_starts):
        return []
    first, last, end = place.start.row, *_last_character(source, place)
    if first == last:
        focus = Window.around(place.start.column - 1, source.line(first))
        inner = list(_underlined(source, place, end, focus, ink, tone, mark))
    else:
        focus = Window.around(0, "")
        inner = list(_bracketed(source, place, last, end, ink, tone, mark))
    margin = "" if first == last else "  "
    above = _context(source, range(first - context, first), focus, margin, ink)
    below = _context(source, range(last + 1, last + 1 + context), focus, margin, ink)
    return [EMPTY, *above, *inner, *below, EMPTY]


def _last_character(source: SourceText, place: Place) -> tuple[int, int]:
    """The row of the last character of a place, and the offset in that row where it ends."""
    row, column = place.end
    if column == 1 and row > place.start.row:
        row -= 1
        return row, len(source.line(row))
    return row, min(column - 1, len(source.line(row)))


def _context(
    source: SourceText, rows: range, window: Window, margin: str, ink: Ink
) -> Iterator[Row]:
    for row in rows:
        if 1 <= row <= len(source.line_starts) and (line := source.line(row)).strip():
            yield Row(row, "|", margin + window.show(line, ink))


def _underlined(
    source: SourceText, place: Place, end: int, window: Window, ink: Ink, tone: str, mark: str
) -> Iterator[Row]:
    line = source.line(place.start.row)
    left = window.column(line, place.start.column - 1, ink)
    right = window.column(line, end, ink)
    yield Row(place.start.row, "|", window.show(line, ink))
    yield Row(None, "|", " " * left + ink.paint(mark * max(1, right - left), tone))


def _bracketed(
    source: SourceText, place: Place, last: int, end: int, ink: Ink, tone: str, mark: str
) -> Iterator[Row]:
    """A place of several rows, with a bracket on its left from its start to its end."""
    first, start = place.start.row, place.start.column - 1
    line = source.line(first)
    window = Window.around(start, line)
    if line[:start].strip():
        yield Row(first, "|", "  " + window.show(line, ink))
        bracket = " _" + "_" * window.column(line, start, ink) + mark
        yield Row(None, "|", ink.paint(bracket, tone))
    else:
        yield Row(first, "|", ink.paint("/", tone) + " " + window.show(line, ink))

    bar = ink.paint("|", tone)
    folded = last - first >= _MOST_ROWS
    for row in range(first + 1, last):
        if not folded or row < first + _KEPT_ROWS or row > last - _KEPT_ROWS:
            line = source.line(row)
            yield Row(row, "|", f"{bar} {Window.around(0, line).show(line, ink)}".rstrip())
        elif row == first + _KEPT_ROWS:
            yield Row(None, "|", f"{bar} {ink.encodable('…')}")

    line = source.line(last)
    final = max(0, end - 1)
    window = Window.around(final, line)
    yield Row(last, "|", f"{bar} {window.show(line, ink)}".rstrip())
    bracket = "|_" + "_" * window.column(line, final, ink) + mark
    yield Row(None, "|", ink.paint(bracket, tone))
