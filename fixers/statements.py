"""Inserting, replacing and deleting whole statements."""

from __future__ import annotations

import ast

from precision_lint.model.finding import Edit, Span
from precision_lint.source.python.parse import ParsedPython


def insert_before(file: ParsedPython, statement: ast.stmt, line: str) -> Edit | None:
    """A line above a statement, indented alike; None if the statement has no lines of its own."""
    if not _has_its_lines(file, statement):
        return None
    start = file.span_of(statement).start
    return Edit(Span(start, start), f"{line}{file.text.newline}{_indent(file, statement)}")


def insert_after(file: ParsedPython, statement: ast.stmt, line: str) -> Edit | None:
    """A line below a statement, indented alike; None if the statement has no lines of its own."""
    if not _has_its_lines(file, statement):
        return None
    end = file.text.line_span(file.text.row(file.span_of(statement).end)).end
    added = f"{_indent(file, statement)}{line}"
    if file.text.text[:end].endswith(("\n", "\r")):
        return Edit(Span(end, end), added + file.text.newline)
    return Edit(Span(end, end), file.text.newline + added)


def delete(file: ParsedPython, statement: ast.stmt) -> Edit | None:
    """Delete the lines of a statement; None if other statements share them."""
    if not _has_its_lines(file, statement):
        return None
    span = file.span_of(statement)
    first, last = file.text.row(span.start), file.text.row(span.end)
    whole = Span(file.text.line_span(first).start, file.text.line_span(last).end)
    return None if "#" in file.text[whole] else Edit(whole, "")


def _has_its_lines(file: ParsedPython, statement: ast.stmt) -> bool:
    """True if nothing but a comment shares the lines of a statement."""
    span = file.span_of(statement)
    first = file.text.line_span(file.text.row(span.start))
    last = file.text.line_span(file.text.row(span.end))
    before = file.text[Span(first.start, span.start)]
    after = file.text[Span(span.end, last.end)].strip()
    return not before.strip() and (not after or after.startswith("#"))


def _indent(file: ParsedPython, statement: ast.stmt) -> str:
    start = file.span_of(statement).start
    return file.text[Span(file.text.line_span(file.text.row(start)).start, start)]
