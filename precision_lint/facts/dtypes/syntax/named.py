"""Whether a file names dtypes in its code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.model.dtypes import ALIASES, FLOATING
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree

_NAMED = regex(r"(?:bf|fp|float|precision)_?16|float64|(?:Half|Double)Tensor", re.IGNORECASE)
_UNUSUAL = frozenset(
    name for name, meant in ALIASES.items() if meant in FLOATING and meant != "float32"
)
_WORD = regex(r"\w+")
_LONGEST_NAME = 24
"""Longer texts are messages and documentation."""


@fact
def names_unusual_dtypes(file: ParsedPython) -> bool:
    """True if code names a floating dtype other than float32, for more than to compare with it.

    Words in comments and in documentation do not count.
    """
    words = {*_WORD.findall(file.text.text)}  # those in comments and documentation, too
    variables = {word for word in words if _NAMED.search(word) is not None}
    attributes = variables | (words & _UNUSUAL)
    return bool(attributes) and any(
        not isinstance(syntax_tree(file).parent(node), ast.Compare)
        for node in _naming(variables, attributes, file)
    )


def _naming(variables: set[str], attributes: set[str], file: ParsedPython) -> Iterator[ast.AST]:
    """The nodes that name such a dtype by one of the words of the file."""
    yield from (each for each in file.nodes_of(ast.Attribute) if each.attr in attributes)
    yield from (each for each in file.nodes_of(ast.Name) if each.id in variables)
    yield from (each for each in file.nodes_of(ast.keyword) if each.arg in variables)
    yield from (each for each in file.nodes_of(ast.arg) if each.arg in variables)
    for node in file.nodes_of(ast.Constant):
        match node.value:
            case str(text) if len(text) < _LONGEST_NAME:
                if text in _UNUSUAL or _NAMED.search(text) is not None:
                    yield node
