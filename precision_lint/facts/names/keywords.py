"""The keyword arguments of a call: written there, in a dict that it unpacks, or passed on.

`make(fp16=True)` gives `fp16` to `Arguments(**defaults, **overrides)` inside of
`def make(**overrides)`. A dict counts if nothing else uses it, so that nothing has changed it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import parameters
from precision_lint.source.python.syntax_tree import SyntaxTree


@frozen
class Keywords:
    """What a call is given by name, and the call of its function that passes some of it on."""

    values: Mapping[str, ast.expr]
    passed_by: ast.Call | None = None


def keywords_of(call: ast.Call, syntax: SyntaxTree) -> Iterator[Keywords]:
    """The keyword arguments of a call: for each call of its function, if that passes some on."""
    values = {each.arg: each.value for each in call.keywords if each.arg is not None}
    passing: FunctionDefinition | None = None
    for each in call.keywords:
        match each:
            case ast.keyword(arg=None, value=ast.Name() as unpacked):
                values |= _entries(unpacked, syntax)
                passing = passing or _passing(unpacked, syntax)
            case ast.keyword(arg=None, value=ast.Dict() as display):
                values |= _items(display)
    if passing is None:
        yield Keywords(values)
        return
    named = {each.arg for each in parameters(passing.args)}
    for other in syntax.calls(passing.name):
        if isinstance(other.func, ast.Name):
            given = {each.arg: each.value for each in other.keywords if each.arg is not None}
            passed = {name: value for name, value in given.items() if name not in named}
            yield Keywords(values | passed, other)


def _entries(node: ast.Name, syntax: SyntaxTree) -> dict[str, ast.expr]:
    match binding(node, syntax):
        case [ast.Dict() as display] if _is_read_once(node, syntax):
            return _items(display)
    return {}


def _items(display: ast.Dict) -> dict[str, ast.expr]:
    pairs = zip(display.keys, display.values, strict=True)
    return {
        key.value: value
        for key, value in pairs
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _passing(node: ast.Name, syntax: SyntaxTree) -> FunctionDefinition | None:
    """The function of the module whose `**` parameter a name is."""
    match syntax.function(node):
        case ast.FunctionDef(args=ast.arguments(kwarg=ast.arg(arg=node.id))) as function if (
            syntax.parent(function) is syntax.tree and _is_read_once(node, syntax)
        ):
            return function
    return None


def _is_read_once(node: ast.Name, syntax: SyntaxTree) -> bool:
    return len(syntax.reads(syntax.function(node) or syntax.tree, node.id)) == 1
