"""The fences of a Markdown document, by the rules of CommonMark.

Those in quotes, in HTML comments and in indented code are left out: they are shown, not copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project.discovery import Kind

_LINE = regex(r"[^\n]*\n|[^\n]+")
_INDENT = regex(r"[ \t]*")
_ITEM = regex(r"(?:[-*+]|\d{1,9}[.)])(?=[ \t]|\r?$)", re.MULTILINE)
_BLOCK = regex(r"(?:!!!|\?\?\?|===)[+!]? ")  # of MkDocs: what is indented belongs to it
_MARKS = regex(r"(`{3,}|~{3,})[ \t]*([^\r\n]*)")
_TAB = 4
_CODE = 4  # columns from which an indented line is code

_LANGUAGE = regex(r"\{?[ \t]*\.?([\w-]+)")
_SESSIONS = frozenset({"console", "shell-session", "shellsession"})
_FORMATS: dict[str, Kind] = {
    "sh": "shell", "bash": "shell", "shell": "shell", "zsh": "shell",
    "env": "shell", "dotenv": "shell", **dict.fromkeys(_SESSIONS, "shell"),
    "yaml": "yaml", "yml": "yaml",
    "json": "json", "jsonc": "json",
    "toml": "toml",
}  # fmt: skip


@frozen
class Fence:
    """A fence that is closed; `info` is the text after its opening marks."""

    info: str
    body: Span
    margin: int
    """How far it is indented."""

    @property
    def language(self) -> str:
        match = _LANGUAGE.match(self.info)
        return match[1].lower() if match else ""

    @property
    def format(self) -> Kind | None:
        """What its language is a configuration of; None for all others."""
        return _FORMATS.get(self.language)

    @property
    def is_session(self) -> bool:
        """True if it shows what somebody types, and what is printed."""
        return self.language in _SESSIONS


@frozen
class _Opening:
    marks: str
    info: str
    start: int
    margin: int
    outer: int
    """The column where the list item around it has its content."""


def fences(text: str) -> Iterator[Fence]:
    """The fences of a document, in order."""
    margins = [0]
    opening: _Opening | None = None
    hidden = False
    for line in _LINE.finditer(text):
        start, end = line.span()
        place, column = _content(text, start, 0)
        if hidden:
            hidden = text.find("-->", start, end) < 0
            continue
        if _is_end(text, place):
            continue
        if opening is not None and column >= opening.outer:
            if column - opening.outer < _CODE and _closes(text[place:end], opening.marks):
                yield Fence(opening.info, Span(opening.start, start), opening.margin)
                opening = None
            continue
        opening = None  # its list item ends here
        while column < margins[-1]:
            margins.pop()
        while column - margins[-1] < _CODE and (item := _ITEM.match(text, place, end)):
            beyond = column + len(item.group())
            place, column = _content(text, item.end(), beyond)
            if column - beyond > _CODE or _is_end(text, place):
                column = beyond + 1
            margins.append(column)
        if column - margins[-1] >= _CODE:
            continue
        if _BLOCK.match(text, place):
            margins.append(column + _CODE)
        elif text.startswith("<!--", place):
            hidden = text.find("-->", place, end) < 0
        elif (marks := _MARKS.match(text, place)) and not (marks[1][0] == "`" and "`" in marks[2]):
            opening = _Opening(marks[1], marks[2].strip(), end, column, margins[-1])


def _content(text: str, start: int, column: int) -> tuple[int, int]:
    """Where the content of a line starts after its blanks: the offset and the column."""
    blanks = _INDENT.match(text, start)
    assert blanks is not None
    for blank in blanks.group():
        column += _TAB - column % _TAB if blank == "\t" else 1
    return blanks.end(), column


def _is_end(text: str, place: int) -> bool:
    """True where nothing follows on the line."""
    return text[place : place + 1] in ("", "\r", "\n")


def _closes(line: str, marks: str) -> bool:
    line = line.rstrip()
    return line.startswith(marks) and not line.strip(marks[0])
