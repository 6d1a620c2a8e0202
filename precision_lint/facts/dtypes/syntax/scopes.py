"""Which variables a function changes that are not its own: of functions around it, of the module.

`global` and `nonlocal` declare some, and any list, dictionary or module can be changed in place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import field

from precision_lint.facts.dtypes.syntax.mutations import CHANGING, MUTATING, changed, root
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import (
    AnyFunction,
    FunctionDefinition,
    bound_names,
    head,
    holds,
    own_statements,
    targets,
)
from precision_lint.source.python.syntax import parameters


@frozen
class Scope:
    """The variables of a function."""

    own: frozenset[str]
    """Those that it binds."""
    changed: Mapping[str, tuple[int, ...]]
    """Others that it assigns or changes in place, with the rows; so do the functions inside it."""
    declared: frozenset[str] = frozenset()
    """Those that it declares `global` or `nonlocal`."""
    switches: Mapping[str, bool] = field(default_factory=dict)
    """Those that it binds once, to `True` or `False`."""


def scope_of(node: AnyFunction, lambdas: list[int]) -> Scope:
    """The variables of a function; `lambdas` are the rows of its file that can hold one."""
    own = {parameter.arg for parameter in parameters(node.args)}
    outer: set[str] = set()
    found: dict[str, list[int]] = {}
    inner: list[AnyFunction] = []
    bound: list[str] = [*own]
    switches: dict[str, bool] = {}
    if isinstance(node, ast.Lambda):
        for name in changed_by(node.body):
            found.setdefault(name, []).append(node.lineno)
        return Scope(frozenset(own), _others(found, own))
    for statement in own_statements(node.body):
        match statement:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outer |= set(names)
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inner.append(statement)
            case ast.Expr(value=value):
                for name in changed_by(value):
                    found.setdefault(name, []).append(statement.lineno)
        bound += bound_names(statement)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool() as on)):
                switches[name] = on
        for target in targets(statement):
            match target:
                case ast.Name(id=name):
                    found.setdefault(name, []).append(statement.lineno)
                case ast.Subscript() if isinstance(held := root(target), ast.Name):
                    found.setdefault(held.id, []).append(statement.lineno)
        if lambdas and holds(statement, lambdas):
            inner += lambdas_of(statement)
    own = {*bound} - outer
    for function in inner:
        for name in scope_of(function, lambdas).changed:
            found.setdefault(name, []).append(function.lineno)
            bound.append(name)
    once = {name: on for name, on in switches.items() if name in own and bound.count(name) == 1}
    return Scope(frozenset(own), _others(found, own), frozenset(outer), once)


def own_names(node: FunctionDefinition) -> set[str]:
    """The variables that a function binds, its parameters among them."""
    own = {parameter.arg for parameter in parameters(node.args)}
    outer: set[str] = set()
    for statement in own_statements(node.body):
        if isinstance(statement, ast.Global | ast.Nonlocal):
            outer |= set(statement.names)
        else:
            own |= set(bound_names(statement))
    return own - outer


def _others(found: Mapping[str, list[int]], own: set[str]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(rows) for name, rows in found.items() if name not in own}


def changed_by(node: ast.expr) -> Iterator[str]:
    """The variables that a call changes in place if nobody uses its result."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in MUTATING:
            held = root(owner)
        case ast.Call():
            held, methods = changed(node)
            if not methods & CHANGING:
                return
        case _:
            return
    if isinstance(held, ast.Name):
        yield held.id


def lambdas_of(statement: ast.stmt) -> Iterator[ast.Lambda]:
    """The lambdas in the expressions of a statement."""
    if not isinstance(statement, FunctionDefinition | ast.ClassDef):
        for expression in head(statement):
            yield from (each for each in walk(expression) if isinstance(each, ast.Lambda))
