"""The calls that make an object of which only an attribute is seen: `self.model.head.weight`."""

from __future__ import annotations

import ast

from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, syntax_tree


def makers(node: ast.expr, file: ParsedPython) -> list[ast.Call] | None:
    """The calls whose results the object can be that attributes are read from.

    Those assigned to the variable, or to the attribute of `self`, that the path starts with, alone
    or with others: `self.model, config = load(path)`. None if it can be anything else.
    """
    syntax = syntax_tree(file)
    stores = _stores(_start(node), syntax)
    values = [_assigned(store, syntax) for store in stores]
    objects = [value for value in values if not _is_none(value)]
    calls = [value for value in objects if isinstance(value, ast.Call)]
    return calls if calls and len(calls) == len(objects) else None


def _start(node: ast.expr) -> ast.expr:
    """`self.model` of `self.model.layers[0].weight`, and `model` of `model.head.weight`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            break
        node = node.value
    return node


def _stores(start: ast.expr, syntax: SyntaxTree) -> list[ast.Attribute] | list[ast.Name]:
    match start:
        case ast.Attribute(attr=name):
            owner = enclosing_class(start, syntax)
            return [] if owner is None else syntax.attribute_stores(owner).get(name, [])
        case ast.Name(id=name):
            scope: Scope = syntax.function(start) or syntax.tree
            return syntax.stores(scope, name)
    return []


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _assigned(store: ast.expr, syntax: SyntaxTree) -> ast.expr | None:
    parent = syntax.parent(store)
    if isinstance(parent, ast.Tuple):
        parent = syntax.parent(parent)
    match parent:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return value
    return None
