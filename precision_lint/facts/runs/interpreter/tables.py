"""Tables of a program: displays of a dict, and the lookups in them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

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


@fact
def asked_keys(file: ParsedPython) -> Mapping[ast.Dict, tuple[ast.expr, ...]]:
    """The keys by which a file looks up entries of its tables, of those that it uses for nothing
    else.
    """
    syntax = syntax_tree(file)
    found: dict[ast.Dict, list[ast.expr] | None] = {}
    for node in file.nodes:
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if (table := table_of(node, file)) is None:
            continue
        keys = found.setdefault(table, [])
        match syntax.parent(node):
            case ast.Subscript(slice=key, ctx=ast.Load()) if keys is not None:
                keys.append(key)
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]) if right is node:
                pass
            case ast.Attribute(attr="get") as method:
                match syntax.parent(method):
                    case ast.Call(func=func, args=[key, *_]) if func is method and keys is not None:
                        keys.append(key)
                    case _:
                        found[table] = None
            case ast.Attribute(attr="keys"):
                pass
            case _:
                found[table] = None
    return {table: tuple(keys) for table, keys in found.items() if keys}
