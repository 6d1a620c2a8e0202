"""Lines of a text, for edits that take out or add whole ones."""

from __future__ import annotations

import re

from precision_lint.finding import Span
from precision_lint.source.text import SourceText

_INDENTATION = re.compile(r"[ \t]*")


def before_on_line(text: SourceText, offset: int) -> str:
    """What stands on the line in front of an offset."""
    return text[Span(text.line_span(text.row(offset)).start, offset)]


def rest_of_line(text: SourceText, offset: int) -> str:
    """What stands on the line behind an offset, without the line end."""
    return text[Span(offset, text.line_span(text.row(offset)).end)].rstrip("\r\n")


def end_of_line(text: SourceText, offset: int) -> int:
    """Where the line of an offset ends, in front of its line end."""
    return offset + len(rest_of_line(text, offset))


def whole_lines(text: SourceText, span: Span) -> Span:
    """The lines that a span touches, with the last line end."""
    return Span(
        text.line_span(text.row(span.start)).start,
        text.line_span(text.row(span.end)).end,
    )


def indentation(line: str) -> str:
    """The blanks that a line starts with."""
    match = _INDENTATION.match(line)
    assert match is not None
    return match.group()


def is_comment(rest: str) -> bool:
    """True if the rest of a line is a comment, in YAML, TOML, Python and shell."""
    return rest.lstrip().startswith("#")
