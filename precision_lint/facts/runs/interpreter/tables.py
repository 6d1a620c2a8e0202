"""Tables of a program: displays of a dict, and the lookups in them."""

from __future__ import annotations

import ast

from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree


def table_of(node: ast.expr, file: ParsedPython) -> ast.Dict | None:
    """The display that an expression is, or that a name stands for."""
    if isinstance(node, ast.Name):
        match binding(node, syntax_tree(file)):
            case [ast.Dict() as table]:
                return table
    return node if isinstance(node, ast.Dict) else None


@fact
def lookups(file: ParsedPython) -> tuple[tuple[ast.Subscript, ast.Dict], ...]:
    """The lookups of entries in tables of a file, each with its table."""
    found = (
        (node, table_of(node.value, file)) for node in file.nodes if isinstance(node, ast.Subscript)
    )
    return tuple((node, table) for node, table in found if table is not None)
