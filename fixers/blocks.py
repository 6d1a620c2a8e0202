"""Putting a statement into the block of a `with`."""

from __future__ import annotations

import ast

from precision_lint.model.finding import Edit, Span
from precision_lint.source.python.parse import ParsedPython


def yield_within(file: ParsedPython, statement: ast.Expr) -> list[Edit] | None:
    """`yield context` to `with context: yield`; None for other forms of `yield`."""
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
    """The indentation before a statement; None if its line begins with anything else."""
    line = file.text.line_starts[file.text.row(offset) - 1]
    before = file.text[Span(line, offset)]
    return None if before.strip() else before


def _unit(indent: str) -> str:
    return "\t" if indent.endswith("\t") else "    "
