"""Where a scaler can be used that a function keeps in a variable of its own.

A class of tests makes a scaler in one method and enters autocast in another one. The two never
meet, unless the one function mentions the other, or hands the scaler out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import Definition, FunctionDefinition
from precision_lint.source.python.syntax_tree import SyntaxTree


def is_used_elsewhere(made: ast.Call, region: ast.Call, syntax: SyntaxTree) -> bool:
    """True if a scaler cannot scale a loss of an autocast region.

    The function that makes the scaler keeps it. The region is that of a `with` statement, in a
    function that the former does not mention, directly or not, and that does not mention it.
    """
    maker, user = syntax.function(made), syntax.function(region)
    if not isinstance(maker, FunctionDefinition) or not isinstance(user, FunctionDefinition):
        return False
    if not isinstance(syntax.parent(region), ast.withitem) or not _is_kept(made, maker, syntax):
        return False
    around = [each for each in syntax.around(region) if isinstance(each, Definition)]
    is_reached = not _reached(maker, syntax).isdisjoint(each.name for each in around)
    return not is_reached and maker.name not in _reached(user, syntax)


def _reached(start: FunctionDefinition, syntax: SyntaxTree) -> set[str]:
    """The names of a function and of what it mentions, directly or not."""
    definitions = [each for each in syntax.nodes if isinstance(each, Definition)]
    found: set[str] = set()
    left = {start.name}
    while left:
        found |= left
        reading = [each for each in definitions if each.name in left]
        left = {name for each in reading for name in _mentions(each)} - found
    return found


def _is_kept(made: ast.Call, maker: FunctionDefinition, syntax: SyntaxTree) -> bool:
    """True if one variable holds the scaler: its methods are called, it is given and tested."""
    name = next((each.targets[0] for each in walk(maker) if _stores(each, made)), None)
    if not isinstance(name, ast.Name):
        return False
    return set(syntax.reads(maker, name.id)) <= set(_harmless(maker))


def _stores(statement: ast.AST, made: ast.Call) -> TypeGuard[ast.Assign]:
    """True for `scaler = GradScaler()`, also where a condition chooses between it and another."""
    match statement:
        case ast.Assign(targets=[_], value=ast.IfExp() as value):
            return made in {value.body, value.orelse}
        case ast.Assign(targets=[_]):
            return statement.value is made
    return False


def _harmless(maker: FunctionDefinition) -> Iterator[ast.AST]:
    """What is only asked for a method, given to a call, or tested."""
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
