"""What a name or an attribute of `self` can be, where a file's syntax alone says it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.source.python.statements import FunctionDefinition, Loop
from precision_lint.source.python.syntax import (
    last_name,
    parameters,
    positional_parameters,
    with_defaults,
)
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree

_MOST = 50
"""Assignments of one name; where there are more, nothing is certain."""


def binding(node: ast.Name, syntax: SyntaxTree) -> ast.arg | list[ast.expr] | None:
    """The parameter that a name is, or the values it can have; None if not all are seen."""
    own: Scope = syntax.function(node) or syntax.tree
    scope: Scope | None = own
    while scope is not None:
        stores = syntax.stores(scope, node.id)
        given = [] if isinstance(scope, ast.Module) else parameters(scope.args)
        parameter = next((each for each in given if each.arg == node.id), None)
        if len(stores) > _MOST:
            return None
        if stores:
            if scope is own and (latest := _latest(stores, node, syntax)) is not None:
                return [latest]
            values = [value for store in stores if (value := _stored(store, syntax)) is not None]
            return values if len(values) == len(stores) and parameter is None else None
        if parameter is not None:
            return parameter
        scope = None if isinstance(scope, ast.Module) else syntax.function(scope) or syntax.tree
    return None


def default_of(parameter: ast.arg, syntax: SyntaxTree) -> ast.expr | None:
    """The default of a parameter of a function."""
    function = _function_of(parameter, syntax)
    return None if function is None else dict(with_defaults(function.args)).get(parameter)


def arguments_of(
    parameter: ast.arg, syntax: SyntaxTree
) -> Iterator[tuple[ast.Call, ast.expr | None]]:
    """The calls by name of a function of the module, and what each gives to a parameter.

    What a call leaves out, or may give in an unpacked argument, is None. There are none for a
    method: which class is called is not known.
    """
    function = _function_of(parameter, syntax)
    if function is None or syntax.parent(function) is not syntax.tree:
        return
    names = [each.arg for each in positional_parameters(function.args)]
    for call in syntax.calls(function.name):
        if not isinstance(call.func, ast.Name):
            continue
        given: dict[str | None, ast.expr] = {}
        if not any(isinstance(each, ast.Starred) for each in call.args):
            given |= dict(zip(names, call.args, strict=False))
            given |= {each.arg: each.value for each in call.keywords}
        yield call, given.get(parameter.arg)


def _function_of(parameter: ast.arg, syntax: SyntaxTree) -> FunctionDefinition | None:
    around = syntax.around(parameter)
    return next((each for each in around if isinstance(each, FunctionDefinition)), None)


def _stored(store: ast.AST, syntax: SyntaxTree) -> ast.expr | None:
    """The value that a plain assignment gives, also of several values to as many names."""
    parent = syntax.parent(store)
    match parent:
        case ast.Assign(targets=[target], value=value) if target is store:
            return value
        case ast.AnnAssign(value=value):
            return value
        case ast.Tuple(elts=names):
            match syntax.parent(parent):
                case ast.Assign(targets=[target], value=ast.Tuple(elts=values)) if (
                    target is parent
                    and len(names) == len(values)
                    and not any(isinstance(one, ast.Starred) for one in (*names, *values))
                ):
                    return next(v for n, v in zip(names, values, strict=True) if n is store)
    return None


def _latest(stores: list[ast.Name], node: ast.Name, syntax: SyntaxTree) -> ast.expr | None:
    """The value of the last assignment before a use, if the use certainly comes after it."""
    surrounding = {node, *syntax.around(node)}
    after = [
        store
        for store in stores
        if position_of(store) > position_of(node) or _statement(store, syntax) in surrounding
    ]
    before = sorted((store for store in stores if store not in after), key=position_of)
    if not before or any(share_a_loop(store, node, syntax) for store in after):
        return None
    statement = _statement(before[-1], syntax)
    block = syntax.block(statement) if isinstance(statement, ast.stmt) else []
    if not any(each in surrounding for each in block):
        return None
    return _stored(before[-1], syntax)


def _statement(store: ast.AST, syntax: SyntaxTree) -> ast.AST | None:
    """What a store is a target of, by itself or beside others: `q, k = q.float(), k.float()`."""
    parent = syntax.parent(store)
    return syntax.parent(parent) if isinstance(parent, ast.Tuple) else parent


def position_of(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def share_a_loop(one: ast.AST, other: ast.AST, syntax: SyntaxTree) -> bool:
    loops = {each for each in syntax.around(one) if isinstance(each, Loop)}
    return any(each in loops for each in syntax.around(other))


def given_by_position(function: FunctionDefinition, syntax: SyntaxTree) -> list[str]:
    """The parameters that a call gives by position."""
    is_method = isinstance(syntax.parent(function), ast.ClassDef)
    is_bound = is_method and not any(
        last_name(each) == "staticmethod" for each in function.decorator_list
    )
    return [each.arg for each in positional_parameters(function.args)][is_bound:]


def enclosing_class(node: ast.AST, syntax: SyntaxTree) -> ast.ClassDef | None:
    """The class in whose body a node stands."""
    return next((each for each in syntax.around(node) if isinstance(each, ast.ClassDef)), None)


def attribute(
    node: ast.Attribute, owner: ast.ClassDef, syntax: SyntaxTree
) -> list[ast.expr] | None:
    """The values that a class assigns to `self.name`; None if not all are seen."""
    stores = syntax.attribute_stores(owner).get(node.attr, [])
    values = [value for store in stores if (value := _stored(store, syntax)) is not None]
    return values if len(values) == len(stores) else None


def assigned(node: ast.expr, syntax: SyntaxTree) -> list[ast.expr]:
    """What a variable or an attribute of `self` is assigned; nothing where that is not seen."""
    match node:
        case ast.Name():
            held = binding(node, syntax)
            return held if isinstance(held, list) else []
        case ast.Attribute(value=ast.Name(id="self")):
            owner = enclosing_class(node, syntax)
            return (attribute(node, owner, syntax) if owner is not None else None) or []
    return []
