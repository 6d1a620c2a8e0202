"""Whether a file names dtypes in its code."""

from __future__ import annotations

import ast
import re

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
