"""Putting a statement into the block of a `with`."""

from __future__ import annotations

import ast

from precision_lint.model.finding import Edit, Span
from precision_lint.source.python.parse import ParsedPython


def yield_within(file: ParsedPython, statement: ast.Expr) -> list[Edit] | None:
    """`yield context` to `with context: yield`; None where it is not written plainly."""
    if not isinstance(statement.value, ast.Yield) or statement.value.value is None:
        return None
    whole, context = file.span_of(statement), file.span_of(statement.value.value)
    indent = _indent(file, whole.start)
    if indent is None or file.text[Span(whole.start, context.start)] != "yield ":
        return None
    inner = indent + _unit(indent)
    return [
        Edit(Span(whole.start, context.start), "with "),
        Edit(Span(context.end, context.end), f":{file.text.newline}{inner}yield"),
    ]


def _indent(file: ParsedPython, offset: int) -> str | None:
    """What stands before a statement in its line; None if that is more than blanks."""
    line = file.text.line_starts[file.text.row(offset) - 1]
    before = file.text[Span(line, offset)]
    return None if before.strip() else before


def _unit(indent: str) -> str:
    return "\t" if indent.endswith("\t") else "    "
