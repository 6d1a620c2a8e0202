"""Functions that give what they get in another form: plain tables and lists of the same settings.

`def plain(x): return {k: plain(v) for k, v in x.items()} if isinstance(x, dict) else x`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, positional_parameters

_FORMS = frozenset({"list", "tuple", "dict", "str", "to_container", "deepcopy", "copy"})


def is_plain_copy(function: FunctionDefinition) -> bool:
    """True if all that a function returns is its argument, or the copies of what is in it."""
    given = positional_parameters(function.args)
    if len(given) != 1 or function.decorator_list:
        return False
    returned = [*_returned(function.body)]
    stored = any(
        isinstance(each, ast.Name) and each.id == given[0].arg and isinstance(each.ctx, ast.Store)
        for each in walk(function)
    )
    is_copied = any(_calls(each, function.name) for each in returned)
    return (
        is_copied
        and not stored
        and all(_is_same(each, given[0].arg, function) for each in returned)
    )


def _returned(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    for each in body:
        match each:
            case ast.Return(value=ast.expr() as value):
                yield value
            case ast.If(body=inner, orelse=others):
                yield from _returned(inner)
                yield from _returned(others)


def _calls(node: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Call) and callee_name(each) == name for each in walk(node))


def _is_same(node: ast.expr, given: str, function: FunctionDefinition) -> bool:
    match node:
        case ast.Name(id=name):
            return name == given
        case ast.IfExp(body=one, orelse=other):
            return all(_is_same(each, given, function) for each in (one, other))
        case ast.Call(args=[ast.expr() as inner, *_]) if callee_name(node) in _FORMS:
            return _is_same(inner, given, function)
        case ast.DictComp(
            key=key,
            value=value,
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[ast.Name(id=own), ast.Name(id=entry)]),
                    iter=ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr="items")),
                    ifs=[],
                )
            ],
        ):
            return table == given and _is_key(key, own) and _is_copy_of(value, entry, function)
        case (
            ast.ListComp(elt=value, generators=[ast.comprehension() as loop])
            | ast.GeneratorExp(elt=value, generators=[ast.comprehension() as loop])
        ):
            match loop:
                case ast.comprehension(target=ast.Name(id=entry), iter=ast.Name(id=table), ifs=[]):
                    return table == given and _is_copy_of(value, entry, function)
    return False


def _is_key(node: ast.expr, name: str) -> bool:
    if isinstance(node, ast.Call) and callee_name(node) == "str" and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, ast.Name) and node.id == name


def _is_copy_of(node: ast.expr, entry: str, function: FunctionDefinition) -> bool:
    match node:
        case ast.Call(args=[ast.Name(id=name)], keywords=[]):
            return name == entry and callee_name(node) == function.name
    return False
