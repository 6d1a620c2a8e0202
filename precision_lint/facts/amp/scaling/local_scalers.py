"""Where a scaler can be used that a function keeps in a variable of its own.

A class of tests makes a scaler in one method and enters autocast in another one. The two never
meet, unless the one function mentions the other, or hands the scaler out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax_tree import SyntaxTree

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef


def is_used_elsewhere(made: ast.Call, region: ast.Call, syntax: SyntaxTree) -> bool:
    """True if a scaler cannot scale a loss of an autocast region.

    The function that makes the scaler keeps it. The region is that of a `with` statement, in a
    function that the former does not mention, directly or not, and that does not mention it.
    """
    maker = _function(made, syntax)
    user = _function(region, syntax)
    if maker is None or user is None or not isinstance(syntax.parent(region), ast.withitem):
        return False
    if not _is_kept(made, maker):
        return False
    around = [each for each in syntax.around(region) if isinstance(each, _Definition)]
    is_reached = not _reached(maker, syntax).isdisjoint(each.name for each in around)
    return not is_reached and maker.name not in _reached(user, syntax)


def _function(node: ast.AST, syntax: SyntaxTree) -> _Function | None:
    return next((each for each in syntax.around(node) if isinstance(each, _Function)), None)


def _reached(start: _Function, syntax: SyntaxTree) -> set[str]:
    """The names of a function and of what it mentions, directly or not."""
    definitions = [each for each in syntax.nodes if isinstance(each, _Definition)]
    found: set[str] = set()
    left = {start.name}
    while left:
        found |= left
        reading = [each for each in definitions if each.name in left]
        left = {name for each in reading for name in _mentions(each)} - found
    return found


def _is_kept(made: ast.Call, maker: _Function) -> bool:
    """True if one variable holds the scaler: its methods are called, it is given and tested."""
    name = next((each.targets[0] for each in walk(maker) if _stores(each, made)), None)
    if not isinstance(name, ast.Name):
        return False
    return set(_loads(name.id, maker)) <= set(_harmless(maker))


def _stores(statement: ast.AST, made: ast.Call) -> TypeGuard[ast.Assign]:
    """True for `scaler = GradScaler()`, also where a condition chooses between it and another."""
    match statement:
        case ast.Assign(targets=[_], value=ast.IfExp() as value):
            return made in {value.body, value.orelse}
        case ast.Assign(targets=[_]):
            return statement.value is made
    return False


def _loads(name: str, maker: _Function) -> Iterator[ast.Name]:
    for each in walk(maker):
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load):
            yield each
        elif isinstance(each, ast.Global | ast.Nonlocal) and name in each.names:
            yield ast.Name(name, ast.Load())  # a use that nobody sees


def _harmless(maker: _Function) -> Iterator[ast.expr]:
    for each in walk(maker):
        match each:
            case ast.Attribute(value=ast.Name() as used):
                yield used
            case ast.Call():
                yield from (*each.args, *(one.value for one in each.keywords))
            case ast.Compare():
                yield from (each.left, *each.comparators)
            case ast.If() | ast.IfExp():
                yield each.test


def _mentions(definition: ast.AST) -> Iterator[str]:
    for each in walk(definition):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
