"""Lines that a fix makes too long, broken as black and ruff break them.

This is for the lines that fixes make longer: a statement on one line, and a line in brackets. What
has another form is left to the project's formatter, and so is a file that does not keep its lines
short. The broken lines are parsed: they mean the same.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from precision_lint.model.finding import Edit, Span, apply_edits
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython

_FEW = 0.05
"""The share of longer lines in a file that keeps its lines short."""
_DEEPER = "    "


def keeps_lines_short(file: ParsedPython, limit: int) -> bool:
    """True if nearly all lines of a file are within a limit."""

    def count() -> bool:
        text = file.text
        rows = range(1, len(text.line_starts) + 1)
        longer = sum(len(text.line(row)) > limit for row in rows)
        return longer <= _FEW * len(rows)

    return file.fact((keeps_lines_short, limit), count)


def within_limit(file: ParsedPython, edits: Sequence[Edit], limit: int) -> tuple[Edit, ...]:
    """The edits of a fix, with breaks in the lines that they make too long."""
    text = file.text
    rows: dict[int, list[Edit]] = {}
    for edit in edits:
        for row in range(text.row(edit.span.start), text.row(edit.span.end) + 1):
            rows.setdefault(row, []).append(edit)
    found = list(edits)
    for row, own in rows.items():
        if any("\n" in one.content or text.row(one.span.end) != row for one in own):
            continue
        whole = _row(file, row, own, limit)
        if whole is not None:
            found = [one for one in found if one not in own] + [whole]
    return tuple(edits) if found == list(edits) or not _is_same(file, edits, found) else (*found,)


def _is_same(file: ParsedPython, edits: Sequence[Edit], broken: Sequence[Edit]) -> bool:
    """True if two ways to write a fix mean the same."""
    try:
        one, other = (
            ast.dump(ast.parse(apply_edits(file.text.code, each))) for each in (edits, broken)
        )
    except (SyntaxError, ValueError, RecursionError):
        return False
    return one == other


def _row(file: ParsedPython, row: int, edits: Sequence[Edit], limit: int) -> Edit | None:
    """One edit for a line that gets too long, if it is known how to break it."""
    text = file.text
    start, old = text.line_span(row).start, text.line(row).rstrip()
    moved = [Edit(Span(one.span.start - start, one.span.end - start), one.content) for one in edits]
    new = apply_edits(old, moved)
    is_plain = new.isascii() and "#" not in new and "\t" not in new
    if len(new) <= limit or len(old) > limit or not is_plain or not keeps_lines_short(file, limit):
        return None
    body = new.lstrip()
    indent = new[: len(new) - len(body)]
    try:
        if row in _rows_of_statements(file):
            lines = _of_statement(body, indent, limit)
        else:
            above, below = text.line(row - 1).rstrip()[-1:], text.line(row + 1).lstrip()[:1]
            lines = _in_brackets(body, indent, limit, above, below)
    except SyntaxError:
        return None
    if lines is None or max(map(len, lines)) > limit:
        return None
    return Edit(Span(start, start + len(old)), text.newline.join(lines))


def _rows_of_statements(file: ParsedPython) -> frozenset[int]:
    """The rows that are one simple statement, or the head of a block."""

    def find() -> frozenset[int]:
        return frozenset(
            node.lineno
            for node in walk(file.tree)
            if isinstance(node, _STATEMENTS) and _end_of(node) == node.lineno
        )

    return file.fact(_rows_of_statements, find)


_STATEMENTS = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr, ast.Assert, ast.If, ast.While,
    ast.With, ast.AsyncWith,
)  # fmt: skip


def _end_of(node: ast.stmt) -> int | None:
    """The last row of a simple statement, or of the head of a block."""
    match node:
        case ast.Assert(test=last) | ast.If(test=last) | ast.While(test=last):
            return last.end_lineno
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return (items[-1].optional_vars or items[-1].context_expr).end_lineno
    return node.end_lineno


def _of_statement(text: str, indent: str, limit: int) -> list[str] | None:
    """`x = value`, with the value in parentheses, or with breaks in the brackets of a call."""
    tail = ":" if text.endswith(":") else ""
    node = _parsed(f"{text} pass" if tail else text)
    if isinstance(node, ast.With | ast.AsyncWith):
        first, *others = node.items
        return None if others else _calls(text, first.context_expr, indent, limit)
    value = getattr(node, "value", getattr(node, "test", None))
    if not isinstance(value, ast.expr) or value.end_col_offset != len(text) - len(tail):
        return None
    head, deeper = text[: value.col_offset], indent + _DEEPER
    parts = _parts(text, value, limit - len(deeper))
    if parts is None or isinstance(node, ast.Expr):
        return _calls(text, value, indent, limit)
    flat = deeper + text[value.col_offset : value.end_col_offset]
    inside = [flat] if len(flat) <= limit else [deeper + part for part in parts]
    return [f"{indent}{head}(", *inside, f"{indent}){tail}"]


def _parsed(text: str) -> ast.stmt:
    if not text.startswith("elif "):
        return ast.parse(text).body[0]
    first = ast.parse(f"if True:\n    pass\n{text}").body[0]
    return first.orelse[0] if isinstance(first, ast.If) else first


def _parts(text: str, value: ast.expr, width: int) -> list[str] | None:
    """The lines of a value that is not only calls with arguments."""
    if isinstance(value, ast.BoolOp):
        return _split_operands(text, value)
    return _choice(text, value, width) or _chain(text, value)


def _in_brackets(body: str, indent: str, limit: int, above: str, below: str) -> list[str] | None:
    """A line between brackets: all of what they contain, or one of its elements."""
    if body.startswith(("if ", "else ")):
        return _operands(body, indent)
    content = body.removesuffix(",")
    elements = _elements(content)
    if above in set("([{") and below in set(")]}") and len(elements) > 1:
        return _with_commas(elements, indent, limit)
    if len(elements) != 1:
        return _operands(body, indent)
    lines = None if below == "." else _argument(content, indent, limit)
    return lines and [*lines[:-1], lines[-1] + body[len(content) :]]


def _within(elements: Sequence[str], indent: str, limit: int) -> list[str] | None:
    """What the brackets of a call contain: a single argument gets no comma."""
    if len(elements) == 1:
        return _argument(elements[0], indent, limit)
    return _with_commas(elements, indent, limit)


def _with_commas(elements: Sequence[str], indent: str, limit: int) -> list[str] | None:
    """The elements, each on lines of its own."""
    lines: list[str] = []
    for element in elements:
        found = _argument(element, indent, limit)
        if found is None:
            return None
        lines += [*found[:-1], found[-1] + ","]
    return lines


def _argument(element: str, indent: str, limit: int) -> list[str] | None:
    """An argument or an element, with breaks if it is too long for a line with a comma."""
    if len(indent + element) < limit:
        return [indent + element]
    text = f"f({element}"
    call = ast.parse(f"{text})", mode="eval").body
    if not isinstance(call, ast.Call) or len(call.args) + len(call.keywords) != 1:
        return None
    value = call.args[0] if call.args else call.keywords[0].value
    parts = _parts(text, value, limit - len(indent))
    if parts is None:
        return _calls(text, value, indent, limit, start=2)
    name = text[2 : value.col_offset]
    return [f"{indent}{name}{parts[0]}", *(indent + part for part in parts[1:])]


def _operands(body: str, indent: str) -> list[str] | None:
    """`a and b`, also after the `if` of a choice, with a line for each operand."""
    word = next((one for one in ("if ", "else ") if body.startswith(one)), "")
    value = ast.parse(f"({body[len(word) :]})", mode="eval").body
    if not isinstance(value, ast.BoolOp):
        return None
    operands = _split_operands(f"({body[len(word) :]})", value)
    return [f"{indent}{word}{operands[0]}", *(indent + one for one in operands[1:])]


def _split_operands(text: str, value: ast.BoolOp) -> list[str]:
    operator = "and" if isinstance(value.op, ast.And) else "or"
    first, *others = (text[one.col_offset : one.end_col_offset] for one in value.values)
    return [first, *(f"{operator} {one}" for one in others)]


def _choice(text: str, value: ast.expr, width: int) -> list[str] | None:
    """The lines of `a if b else c`."""
    if not isinstance(value, ast.IfExp):
        return None
    lines = []
    for word, part in (("", value.body), ("if ", value.test), ("else ", value.orelse)):
        line = word + text[part.col_offset : part.end_col_offset]
        if len(line) > width and isinstance(part, ast.BoolOp):
            first, *others = _split_operands(text, part)
            lines += [word + first, *others]
        else:
            lines.append(line)
    return lines


def _chain(text: str, value: ast.expr) -> list[str] | None:
    """The lines of a chain of methods: `x.a(1)`, `.b()`, `.c()`; None for fewer calls."""
    dots = []
    node = value
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        inner = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Attribute) and isinstance(inner, ast.Call | ast.Subscript):
            dots.append(inner.end_col_offset or 0)
        node = inner
    if len(dots) < 2 or not isinstance(value, ast.Call):
        return None
    places = [value.col_offset, *reversed(dots), value.end_col_offset or 0]
    return [text[start:end] for start, end in pairwise(places)]


def _calls(text: str, value: ast.expr, indent: str, limit: int, start: int = 0) -> list[str] | None:
    """The lines of calls in a row, with breaks in the first brackets without which it is too long.

    `start` is where the line begins in the text.
    """
    brackets = []
    node = value
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Call):
            if node.args or node.keywords:
                opening = text.index("(", node.func.end_col_offset)
                brackets.append((opening, (node.end_col_offset or 0) - 1))
            node = node.func
        else:
            node = node.value
    brackets.reverse()
    ends = [*(opening + 1 for opening, _ in brackets[1:]), len(text)]
    lines: list[str] = []
    for (opening, closing), end in zip(brackets, ends, strict=False):
        if len(indent) + end - start > limit:
            inside = text[opening + 1 : closing]
            deeper = indent + _DEEPER
            is_one = len(deeper + inside) <= limit and not inside.endswith(",")
            elements = [inside] if is_one else _elements(inside)
            broken = [deeper + inside] if is_one else _within(elements, deeper, limit)
            if broken is None:
                return None
            lines += [indent + text[start : opening + 1], *broken]
            start = closing
    return [*lines, indent + text[start:]] if lines else None


def _elements(content: str) -> list[str]:
    """The arguments in the brackets of a call, or the elements in others."""
    tree = ast.parse(f"f({content})", mode="eval").body
    if not isinstance(tree, ast.Call):
        return []
    text = f"f({content.rstrip().removesuffix(',')}"
    starts = sorted(
        [each.col_offset for each in tree.args]
        + [each.col_offset - 2 * (each.arg is None) for each in tree.keywords]
    )
    ends = [*starts[1:], len(text)]
    return [
        text[start:end].strip().removesuffix(",") for start, end in zip(starts, ends, strict=True)
    ]
