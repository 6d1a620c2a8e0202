"""Whether a file, or a function of it, names dtypes in its code."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Sequence

from precision_lint.model.dtypes import ALIASES, FLOATING
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree

_NAMED = re.compile(r"(?:bf|fp|float|precision)_?16|float64|(?:Half|Double)Tensor", re.IGNORECASE)
_UNUSUAL = frozenset(
    name for name, meant in ALIASES.items() if meant in FLOATING and meant != "float32"
)
_LONGEST_NAME = 24
"""Longer texts are messages and documentation."""


_DECIDING = re.compile(
    r"\.(?:float|half|bfloat16|double|from_numpy|randn?|zeros|ones|full|empty|tensor|as_tensor"
    r"|linspace|eye|normal)\(|(?:bf|fp|float|precision)_?(?:16|32|64)\b|\.(?:half|double|float)\b"
    r"|\bautocast\(|(?<!\.)dtype|DTYPE",
)
"""What gives a tensor, a module or a region a dtype."""


def decides_dtypes_around(node: ast.expr, file: ParsedPython) -> bool:
    """True if the function that a call is in gives something a dtype, as far as its text says.

    What only callers and classes know counts as little as what nobody knows.
    """
    rows = _deciding_rows(file)
    around = [each for each in _functions(file) if each[0] <= node.lineno <= each[1]]
    first, last = max(around, default=(1, len(file.text.line_starts)))
    at = bisect_left(rows, first)
    return at < len(rows) and rows[at] <= last


@fact
def _deciding_rows(file: ParsedPython) -> Sequence[int]:
    found = _DECIDING.finditer(file.text.text)
    return sorted({file.text.row(each.start()) for each in found})


@fact
def _functions(file: ParsedPython) -> Sequence[tuple[int, int]]:
    """The first and the last row of each function."""
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in file.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


@fact
def names_unusual_dtypes(file: ParsedPython) -> bool:
    """True if code names a floating dtype other than float32, for more than to compare with it.

    Words in comments and in documentation do not count.
    """
    syntax = syntax_tree(file)
    for node in file.nodes:
        match node:
            case ast.Attribute(attr=name):
                is_named = name in _UNUSUAL or _NAMED.search(name) is not None
            case ast.Name(id=name) | ast.keyword(arg=str(name)) | ast.arg(arg=name):
                is_named = _NAMED.search(name) is not None
            case ast.Constant(value=str(text)) if len(text) < _LONGEST_NAME:
                is_named = text in _UNUSUAL or _NAMED.search(text) is not None
            case _:
                continue
        if is_named and not isinstance(syntax.parent(node), ast.Compare):
            return True
    return False
