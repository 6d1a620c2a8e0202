"""Adding an entry to a dict that is written out."""

from __future__ import annotations

import ast

from precision_lint.fixers.lines import before_on_line, end_of_line, is_comment, rest_of_line
from precision_lint.fixers.quotes import usual_quote
from precision_lint.model.finding import Edit, Span
from precision_lint.source.python.parse import ParsedPython


def add_entry(
    file: ParsedPython, key: ast.expr | None, value: ast.expr, name: str, expression: str
) -> list[Edit]:
    """`name: expression` after the entry of a key, which is None for `**rest`.

    On a line of its own if that entry has one, else on the same line.
    """
    end = file.span_of(value).end
    quote = _quote(file, key)
    entry = f"{quote}{name}{quote}: {expression}"
    indent = "" if key is None else before_on_line(file.text, file.span_of(key).start)
    rest = rest_of_line(file.text, end).strip()
    after = rest.removeprefix(",").strip()
    if key is None or indent.strip() or (after and not is_comment(after)):
        return [Edit(Span(end, end), f", {entry}")]
    line_end = end_of_line(file.text, end)
    line = f"{file.text.newline}{indent}{entry}"
    if rest.startswith(","):
        return [Edit(Span(line_end, line_end), f"{line},")]
    return [Edit(Span(end, end), ","), Edit(Span(line_end, line_end), line)]


def _quote(file: ParsedPython, key: ast.expr | None) -> str:
    """The quote of a key, or else the usual one."""
    if key is not None and (opening := file.text.text[file.span_of(key).start]) in "'\"":
        return opening
    return usual_quote(file)
