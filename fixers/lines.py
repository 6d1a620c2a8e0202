"""Lines of a text, for edits that remove or add whole lines."""

from __future__ import annotations

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.text.text import SourceText

_INDENTATION = regex(r"[ \t]*")


def before_on_line(text: SourceText, offset: int) -> str:
    """The text of the line before an offset."""
    return text[Span(text.line_span(text.row(offset)).start, offset)]


def rest_of_line(text: SourceText, offset: int) -> str:
    """The text of the line after an offset, without the line ending."""
    return text[Span(offset, text.line_span(text.row(offset)).end)].rstrip("\r\n")


def end_of_line(text: SourceText, offset: int) -> int:
    """The offset at which the line of an offset ends, before its line ending."""
    return offset + len(rest_of_line(text, offset))


def whole_lines(text: SourceText, span: Span) -> Span:
    """The lines that a span touches, with the last line ending."""
    return Span(
        text.line_span(text.row(span.start)).start,
        text.line_span(text.row(span.end)).end,
    )


def indentation(line: str) -> str:
    """The whitespace at the start of a line."""
    match = _INDENTATION.match(line)
    assert match is not None
    return match.group()


def is_comment(rest: str) -> bool:
    """True if the rest of a line is a comment, in YAML, TOML, Python and shell."""
    return rest.lstrip().startswith("#")
