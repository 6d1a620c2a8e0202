"""Calls that fit on one line after a fix, as black and ruff write them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from precision_lint.model.finding import Edit, Span, apply_edits
from precision_lint.project.import_style import ImportStyle
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import calls_by_span, syntax_tree
from precision_lint.source.text.text import SourceText

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)


def joined(
    file: ParsedPython, call: ast.Call, edits: Sequence[Edit], style: ImportStyle
) -> tuple[Edit, ...]:
    """The edits of a call, without the line breaks of its arguments if it fits on one line now.

    Only for a call that ends a statement, and whose arguments have a line of their own because it
    was too long. Calls that get too long are broken like all lines: see `long_lines`.
    """
    joining = _joining(file, call, edits, style.line_length)
    return tuple(edits) if joining is None else (joining,)


def edit_joined(
    file: ParsedPython, call: Span, edit: Edit | None, style: ImportStyle
) -> tuple[Edit, ...]:
    """The edit of the call at a span, see `joined`."""
    if edit is None:
        return ()
    node = calls_by_span(file).get(call)
    return (edit,) if node is None else joined(file, node, [edit], style)


def _joining(file: ParsedPython, call: ast.Call, edits: Sequence[Edit], limit: int) -> Edit | None:
    text, span = file.text, file.span_of(call)
    opening, closing = _after_parenthesis(file, call), span.end - 1
    inside = Span(opening, closing)
    is_ending = isinstance(syntax_tree(file).parent(call), _STATEMENTS)
    rows = text[inside].split(text.newline)
    if len(rows) != 3 or rows[0].strip() or rows[2].strip() or not is_ending:
        return None
    first, last = text.line_span(text.row(span.start)), text.line_span(text.row(closing))
    head, rest = text[Span(first.start, opening)], text[Span(closing, last.end)].rstrip()
    before = text[inside].strip()
    is_within = all(inside.start <= one.span.start <= one.span.end <= closing for one in edits)
    after = _edited(text, inside, edits).strip() if is_within else ""
    had_to_break = len(head + before + rest) > limit
    if not after or "#" in before or before.endswith(",") or not had_to_break or rest != ")":
        return None
    return Edit(inside, after) if len(head + after + rest) <= limit else None


def _after_parenthesis(file: ParsedPython, call: ast.Call) -> int:
    """The offset after the parenthesis that opens the arguments."""
    return file.text.text.index("(", file.span_of(call.func).end) + 1


def _edited(text: SourceText, span: Span, edits: Sequence[Edit]) -> str:
    moved = [
        Edit(Span(one.span.start - span.start, one.span.end - span.start), one.content)
        for one in edits
    ]
    return apply_edits(text[span], moved)
