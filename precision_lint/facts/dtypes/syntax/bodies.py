"""The bodies of a module by what is in them: some rows, or a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.syntax.mentions import rows_mentioning
from precision_lint.source.python.statements import blocks, holds

Body: TypeAlias = "Function | Module"


def module_of_body(body: Body) -> Module:
    return body if isinstance(body, Module) else body.module


def node_of_body(body: Body) -> ast.AST:
    return body.file.tree if isinstance(body, Module) else body.node


def functions_at(module: Module, rows: list[int]) -> Iterator[Function]:
    """The functions and methods of a module that hold one of some rows, outermost first."""
    if rows:
        yield from _below(module, module.file.tree.body, rows, "", None, None)


def _below(
    module: Module,
    body: list[ast.stmt],
    rows: list[int],
    scope: str,
    owner: Class | None,
    enclosing: Function | None,
) -> Iterator[Function]:
    at = 0  # of the first row that is no longer above the statement
    for node in body:
        while at < len(rows) and rows[at] < node.lineno:
            at += 1
        if at == len(rows):
            return
        if rows[at] > (node.end_lineno or node.lineno):
            continue
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                name = f"{scope}.{node.name}".lstrip(".")
                definition = owner.methods.get(node.name) if owner is not None else None
                if definition is None or definition.node is not node:
                    # A function, or one of those that share a method's name: a setter, a branch
                    definition = module.function(node, name, owner, enclosing)
                yield definition
                yield from _below(module, node.body, rows, name, None, definition)
            case ast.ClassDef():
                name = f"{scope}.{node.name}".lstrip(".")
                inner = module.class_(node, name, enclosing)
                yield from _below(module, node.body, rows, name, inner, enclosing)
            case _:
                for block in blocks(node):
                    yield from _below(module, block.body, rows, scope, owner, enclosing)


def bodies_at(module: Module, rows: list[int]) -> Iterator[tuple[Body, frozenset[int]]]:
    """The bodies of a module that hold some rows, with these rows."""
    outside, inside = set(rows), frozenset(rows)
    for function in functions_at(module, rows):
        outside -= set(range(function.node.lineno, (function.node.end_lineno or 0) + 1))
        yield function, inside
    if outside:
        yield module, frozenset(outside)


def bodies_mentioning(module: Module, name: str) -> Iterator[tuple[Body, frozenset[int]]]:
    """The bodies of a module that mention a name, with the rows that do: many files ask for it."""
    yield from module.fact(
        (bodies_mentioning, name),
        lambda: tuple(bodies_at(module, rows_mentioning(module.file.text, name))),
    )


def rows_mentioning_in(function: Function, name: str) -> frozenset[int]:
    """The rows of a function that mention a name."""
    rows = rows_mentioning(function.module.file.text, name)
    return frozenset(row for row in rows if holds(function.node, [row]))
