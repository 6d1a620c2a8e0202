"""Calls that get too long for their line, or fit on one, as black and ruff write them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from precision_lint.model.finding import Edit, Span, apply_edits
from precision_lint.project.import_style import ImportStyle
from precision_lint.source.python.long_lines import keeps_lines_short
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import calls_by_span, syntax_tree
from precision_lint.source.text.text import SourceText

_END_OF_WITH = re.compile(r"(?:as \w+)?(?:, [^#]*)?:")


def within_lines(
    file: ParsedPython, call: ast.Call, edits: Sequence[Edit], style: ImportStyle
) -> tuple[Edit, ...]:
    """The edits of a call, with line breaks in it if its line gets too long, or without its breaks
    if it fits on one line now.

    Only for a call that ends a statement, or is chosen by one (`f() if a else b`), in a file that
    keeps its lines short: everything else is left to the project's formatter.
    """
    text, span, limit = file.text, file.span_of(call), style.line_length
    if (joined := _joined(file, call, edits, limit)) is not None:
        return joined
    line = text.line_span(text.row(span.start))
    own = [edit for edit in edits if line.start <= edit.span.start and edit.span.end <= line.end]
    if (choice := _choice_of(file, call)) is not None and keeps_lines_short(file, limit):
        return _with_broken_choice(file, choice, edits, own, limit)
    if not _ends_line(file, call) or not keeps_lines_short(file, limit):
        return tuple(edits)
    opening = _after_parenthesis(file, call)
    closing = span.end - 1
    head = _edited(text, Span(line.start, opening), [one for one in own if one.span.end < opening])
    body = _edited(text, Span(opening, closing), [one for one in own if one.span.end >= opening])
    rest = text[Span(closing, line.end)].rstrip()
    indent = head[: len(head) - len(head.lstrip())]
    is_whole = len(text.line(text.row(span.start))) <= limit and "\n" not in head + body
    if not is_whole or len(head + body + rest) <= limit:
        return tuple(edits)
    broken = _broken(body, indent + "    ", limit, text.newline)
    if len(head) > limit or len(indent + rest) > limit or broken is None:
        return tuple(edits)
    inside = Edit(Span(opening, closing), text.newline + broken + text.newline + indent)
    return (*(one for one in edits if one not in own or one.span.end < opening), inside)


def _joined(
    file: ParsedPython, call: ast.Call, edits: Sequence[Edit], limit: int
) -> tuple[Edit, ...] | None:
    """A call whose arguments have a line of their own because it was too long, if it fits now."""
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
    return (Edit(inside, after),) if len(head + after + rest) <= limit else None


_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)


def edit_within_lines(
    file: ParsedPython, call: Span, edit: Edit | None, style: ImportStyle
) -> tuple[Edit, ...]:
    """The edit of the call at a span, with line breaks if its line gets too long."""
    if edit is None:
        return ()
    node = calls_by_span(file).get(call)
    return (edit,) if node is None else within_lines(file, node, [edit], style)


def _choice_of(file: ParsedPython, call: ast.Call) -> ast.IfExp | None:
    """The choice of `x = f(…) if a else b` and of `return`, on one line or alone on its line."""
    syntax, text = syntax_tree(file), file.text
    choice = syntax.parent(call)
    if not isinstance(choice, ast.IfExp) or choice.test is call:
        return None
    span, body, test, other = map(file.span_of, (choice, choice.body, choice.test, choice.orelse))
    line = text.line_span(text.row(span.start))
    before = text[Span(line.start, span.start)]
    is_plain = (
        text[Span(body.end, test.start)] == " if "
        and text[Span(test.end, other.start)] == " else "
        and (body.start, other.end) == (span.start, span.end)
        and (before.endswith(("= ", "return ")) or not before.strip())
        and text[Span(span.end, max(span.end, line.end))].strip() == ""
    )
    is_value = isinstance(syntax.parent(choice), ast.Assign | ast.AnnAssign | ast.Return)
    return choice if is_plain and is_value else None


def _with_broken_choice(
    file: ParsedPython, choice: ast.IfExp, edits: Sequence[Edit], own: Sequence[Edit], limit: int
) -> tuple[Edit, ...]:
    """The edits, with a choice in parentheses if its line gets too long, a part on each line."""
    text, span = file.text, file.span_of(choice)
    line = text.line_span(text.row(span.start))
    before = text[Span(line.start, span.start)]
    indent = before[: len(before) - len(before.lstrip())]
    is_alone = not before.strip()  # in parentheses, whose lines are there
    deeper = indent if is_alone else indent + "    "
    inside = [edit for edit in own if span.start <= edit.span.start and edit.span.end <= span.end]
    parts = [("", choice.body), ("if ", choice.test), ("else ", choice.orelse)]
    rows = []
    for word, part in parts:
        place = file.span_of(part)
        changes = [one for one in inside if place.start <= one.span.start < place.end]
        rows.append(f"{deeper}{word}{_edited(text, place, changes)}")
    whole = _edited(text, span, inside)
    fits = len(before + whole) <= limit
    if len(f"{deeper}{whole}") <= limit:
        rows = [f"{deeper}{whole}"]
    if fits or max(map(len, rows)) > limit or len(text[line].rstrip()) > limit:
        return tuple(edits)
    if is_alone:
        broken = text.newline.join(rows).lstrip()
    else:
        broken = text.newline.join(["(", *rows, f"{indent})"])
    return (*(one for one in edits if one not in inside), Edit(span, broken))


def _ends_line(file: ParsedPython, call: ast.Call) -> bool:
    """True for the call of `x = f(…)`, `return f(…)`, `with f(…), …:`, alone on one line."""
    text, span, syntax = file.text, file.span_of(call), syntax_tree(file)
    row = text.row(span.start)
    rest = text[Span(span.end, max(span.end, text.line_span(row).end))].strip()
    if row != text.row(span.end):
        return False
    match syntax.parent(call):
        case ast.withitem() as item:
            statement = syntax.parent(item)
            is_with = isinstance(statement, ast.With) and statement.items[0] is item
            return is_with and _END_OF_WITH.fullmatch(rest) is not None
        case parent:
            return isinstance(parent, _STATEMENTS) and rest == ""


def _after_parenthesis(file: ParsedPython, call: ast.Call) -> int:
    """The offset after the parenthesis that opens the arguments."""
    return file.text.text.index("(", file.span_of(call.func).end) + 1


def _edited(text: SourceText, span: Span, edits: Sequence[Edit]) -> str:
    moved = [
        Edit(Span(one.span.start - span.start, one.span.end - span.start), one.content)
        for one in edits
    ]
    return apply_edits(text[span], moved)


def _broken(arguments: str, indent: str, limit: int, newline: str) -> str | None:
    """The arguments on one line if they fit, or each on its own; None if these do not fit."""
    if arguments.rstrip().endswith(","):  # then they have a line each
        arguments = arguments.rstrip().removesuffix(",")
    elif len(indent + arguments) <= limit:
        return indent + arguments
    tree = ast.parse(f"f({arguments})", mode="eval").body
    if not isinstance(tree, ast.Call) or not arguments.isascii():
        return None
    starts = sorted(
        [each.col_offset for each in tree.args]
        + [each.col_offset - 2 * (each.arg is None) for each in tree.keywords]
    )
    ends = [*starts[1:], len(arguments) + 2]
    parts = [
        arguments[start - 2 : end - 2].strip().removesuffix(",")
        for start, end in zip(starts, ends, strict=True)
    ]
    lines = [f"{indent}{part}," for part in parts]
    return newline.join(lines) if max(map(len, lines)) <= limit else None
