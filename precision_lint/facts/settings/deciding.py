"""What code reads where it chooses: keys of tables, values that conditions compare, settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from precision_lint.facts.settings import holds_settings
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import SyntaxTree

Chosen: TypeAlias = "str | bool"
"""The value that chooses: a name, or that a switch is on."""

_UNCHANGING = frozenset({"lower", "upper", "strip", "casefold"})
"""Methods of a name that leave it the same name."""


def compared(test: ast.expr) -> Iterator[tuple[ast.expr, Chosen]]:
    """What a condition compares, with a value for which it holds."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(name))]):
            yield left, name
        case ast.Compare(
            left=left,
            ops=[ast.In()],
            comparators=[ast.Tuple(elts=names) | ast.List(elts=names) | ast.Set(elts=names)],
        ):
            for each in names:
                match each:
                    case ast.Constant(value=str(name)):
                        yield left, name
        case ast.BoolOp(values=values):
            for each in values:
                yield from compared(each)
        case ast.Name() | ast.Attribute():
            yield test, True


def key_of_lookup(table: ast.AST, syntax: SyntaxTree) -> ast.expr | None:
    """`name` in `table[name]` and `table.get(name)`."""
    match syntax.parent(table):
        case ast.Subscript(value=value, slice=key) if value is table:
            return key
        case ast.Attribute(attr="get" | "pop") as method:
            match syntax.parent(method):
                case ast.Call(func=function, args=[key, *_]) if function is method:
                    return key
    return None


def bare(node: ast.expr) -> ast.expr:
    """A name without what leaves it the same: `str(name).lower()`."""
    while True:
        match node:
            case ast.Call(func=ast.Name(id="str"), args=[inner]):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if (
                method in _UNCHANGING
            ):
                node = inner
            case _:
                return node


def setting_path(node: ast.expr) -> tuple[str, ...] | None:
    """The names that lead to a setting: (model, dtype) for `cfg.model.dtype`, `args["dtype"]`."""
    names: list[str] = []
    while True:
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                names.append(key)
                node = inner
            case ast.Call(
                func=ast.Attribute(value=inner, attr="get"), args=[ast.Constant(value=str(key)), *_]
            ):
                names.append(key)
                node = inner
            case ast.Call(
                func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(key)), *_]
            ):
                names.append(key)
                node = inner
            case _:
                break
    start = dotted(node)
    if start is None:
        return None
    path = (*start.split("."), *reversed(names))
    holder = next((number for number, name in enumerate(path[:-1]) if holds_settings(name)), None)
    return None if holder is None else path[holder + 1 :]
