"""Whether the function around a call gives a dtype to something that the call works with.

A question about text and names alone: what is not given a dtype there is not worth interpreting for
rules that need two dtypes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    Definition,
    FunctionDefinition,
    blocks,
    own_statements,
    targets,
)

_DECIDING = regex(
    r"\.(?:float|half|bfloat16|double|from_numpy|randn?|zeros|ones|full|empty|tensor|as_tensor"
    r"|linspace|eye|normal)\(|(?:bf|fp|float|precision)_?(?:16|32|64)\b|\.(?:half|double|float)\b"
    r"|\bautocast\(|(?<!\.)dtype|DTYPE",
)
"""What gives a tensor, a module or a region a dtype."""
_FOR_ALL = regex(r"\bautocast\(|\bset_default_(?:d|tensor_)type\(|:=")
"""What gives one to all that comes after, and names that are bound inside of expressions."""
_WORD = regex(r"[A-Za-z_]\w*")
_NOT_CALLED = regex(r"[A-Za-z_]\w*\b(?!\s*\()")
_OF_MANY = frozenset({"self", "cls", "torch", "nn", "F", "np"})
"""Names that stand in most statements, and hold no tensor."""


@frozen
class _Part:
    """A statement without its blocks: its rows, its words, and the names that it may change."""

    rows: range
    is_deciding: bool
    words: Set[str]
    changed: Set[str]


def decides_dtypes_around(node: ast.expr, file: ParsedPython) -> bool:
    """True if the function of a call gives a dtype to what its statement names.

    What only callers and classes know counts as little as what nobody knows.
    """
    function = _functions_by_row(file)[node.lineno]
    if function is None:
        return _names_a_dtype(file)
    rows = file.fact(("rows with dtypes", function), lambda: _rows_with_dtypes(function, file))
    return node.lineno in rows


@fact
def _names_a_dtype(file: ParsedPython) -> bool:
    return _DECIDING.search(file.text.text) is not None


@fact
def _functions_by_row(file: ParsedPython) -> Sequence[FunctionDefinition | None]:
    """The innermost function that each row is in."""
    functions: list[FunctionDefinition] = [
        *file.nodes_of(ast.FunctionDef),
        *file.nodes_of(ast.AsyncFunctionDef),
    ]
    found: list[FunctionDefinition | None] = [None] * (len(file.text.line_starts) + 1)
    for function in sorted(functions, key=lambda each: (each.lineno, each.end_lineno or 0)):
        rows = _rows(function)
        found[rows.start : rows.stop] = [function] * len(rows)
    return found


def _rows_with_dtypes(function: FunctionDefinition, file: ParsedPython) -> Set[int]:
    """The rows of the statements that give a dtype, or name what others give one."""
    rows = _rows(function)
    text = file.rows_of(function)
    if _DECIDING.search(text) is None:
        return frozenset()
    if _FOR_ALL.search(text) is not None:
        return frozenset(rows)
    parts = [_part(each, file) for each in own_statements(function.body)]
    decided = set(_deciding_parameters(function))
    before = -1
    while len(decided) > before:
        before = len(decided)
        for part in parts:
            if part.is_deciding or not decided.isdisjoint(part.words):
                decided |= part.changed
    return frozenset(
        row
        for part in parts
        if part.is_deciding or not decided.isdisjoint(part.words)
        for row in part.rows
    )


def _part(statement: ast.stmt, file: ParsedPython) -> _Part:
    rows = _rows(statement)
    if isinstance(statement, Definition):
        changed = {statement.name}
    else:
        first = [block.body[0].lineno for block in blocks(statement)]
        rows = range(rows.start, max(rows.start + 1, min(first, default=rows.stop)))
        changed = {name for each in targets(statement) for name in _changed(each)}
    text = file.text[file.text.span_of_rows(rows.start, rows.stop - 1)]
    if isinstance(statement, ast.Expr):
        changed = {*_NOT_CALLED.findall(text)}
    words = frozenset(_WORD.findall(text))
    return _Part(rows, _DECIDING.search(text) is not None, words - _OF_MANY, changed - _OF_MANY)


def _changed(target: ast.expr) -> Iterator[str]:
    """The names of what an assignment binds or changes."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=owner, attr=name):
            yield name
            yield from _changed(owner)
        case ast.Subscript(value=inner) | ast.Starred(value=inner):
            yield from _changed(inner)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from _changed(item)


def _deciding_parameters(function: FunctionDefinition) -> Iterator[str]:
    """The parameters that are dtypes, or have a default with one."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(reversed(positional), reversed(given.defaults), strict=False),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    defaults = {each.arg: default for each, default in pairs if default is not None}
    for each in (*positional, *given.kwonlyargs):
        default = defaults.get(each.arg)
        text = each.arg if default is None else f"{each.arg} {ast.unparse(default)}"
        if _DECIDING.search(text) is not None:
            yield each.arg


def _rows(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
