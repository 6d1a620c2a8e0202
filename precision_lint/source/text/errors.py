"""Why a file could not be read as what its name says."""

from __future__ import annotations

import re

from precision_lint.model.regex import regex
from precision_lint.source.text.text import SourceText

_TEMPLATE = regex(r"\{\{|\{%|<%|\$\{|^[ \t]*\$[a-z_]\w*[ \t]*$", re.MULTILINE)
"""Placeholders of jinja2, ERB and `string.Template`, of which `$name` counts as a whole line."""

_CONFLICT = regex(r"^(?:<{7} |={7}\r?$|>{7} )", re.MULTILINE)
"""The lines that a merge leaves around the two sides of a conflict."""


class Unparsable(Exception):
    """The text is not what its format says. Rows and columns count from 1."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


class Template(Unparsable):
    """The text becomes what it is only when a template engine has filled it in."""


class MergeConflict(Unparsable):
    """The text holds both sides of a merge, of which nobody has chosen one."""


def merge_conflict(text: SourceText) -> MergeConflict | None:
    """The first conflict that a merge left in a text which does not parse."""
    marks = list(_CONFLICT.finditer(text.text))
    for start, middle, end in zip(marks, marks[1:], marks[2:], strict=False):
        if start[0] + middle[0][:1] + end[0] == "<<<<<<< =>>>>>>> ":
            name = text.line(text.row(start.start()))
            problem = f"an unresolved merge conflict (`{name}`)"
            return MergeConflict(problem, *text.position(start.start()))
    return None


def unparsable(
    text: SourceText, message: str, offset: int, template: re.Pattern[str] = _TEMPLATE
) -> Unparsable:
    """The exception for `text`: a `Template` if placeholders explain why it does not parse."""
    if conflict := merge_conflict(text):
        return conflict
    kind = Template if template.search(text.text) else Unparsable
    return kind(message, *text.position(min(max(offset, 0), len(text.text))))
