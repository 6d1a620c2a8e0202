"""Where regions of autocast are entered that are made elsewhere, and what is computed in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from precision_lint.facts.amp.regions.autocast import autocast_call
from precision_lint.facts.runs.code.ways import places_within
from precision_lint.source.python.bindings import attribute, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree


def entered(node: ast.expr, file: ParsedPython) -> Sequence[ast.expr]:
    """What makes the context that is entered at an expression: `with region:`, `with region():`;
    nothing for any other expression.
    """
    syntax = syntax_tree(file)
    context, parent = node, syntax.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        context, parent = parent, syntax.parent(parent)
    match parent:
        case ast.withitem(context_expr=region) if region is context:
            return _made(node, syntax)
        case ast.Call(func=ast.Attribute(attr="enter_context"), args=[region]) if region is context:
            return _made(node, syntax)
    return ()


def _made(node: ast.expr, syntax: SyntaxTree) -> Sequence[ast.expr]:
    """What a variable or a member of `self` holds, as far as its file says; a call itself."""
    match node:
        case ast.Name(id=name):
            stores = syntax.stores(syntax.function(node) or syntax.tree, name)
            assigned = map(syntax.parent, stores)
            return [each.value for each in assigned if isinstance(each, ast.Assign)]
        case ast.Attribute(value=ast.Name(id="self")):
            owner = enclosing_class(node, syntax)
            return (attribute(node, owner, syntax) if owner is not None else None) or ()
    return (node,)


def computed_in_both(chosen: ast.If, file: ParsedPython) -> frozenset[str]:
    """The variables that both branches of a condition compute, one of them in a region of autocast:
    they are no choice.
    """
    one, other = (frozenset(_stored(branch)) for branch in (chosen.body, chosen.orelse))
    regions = (
        each
        for branch in (chosen.body, chosen.orelse)
        for statement in branch
        for each in walk(statement)
        if isinstance(each, ast.With)
        and any(_is_region(item.context_expr, file) for item in each.items)
    )
    inside = frozenset(name for region in regions for name in _stored(region.body))
    return one & other & inside


def _is_region(context: ast.expr, file: ParsedPython) -> bool:
    """True for a region of autocast, one that is off included."""
    if isinstance(context, ast.Call) and autocast_call(context, syntax_tree(file)) is not None:
        return True
    return any(place.kind == "autocast" for place in places_within(context, file))


def _stored(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        for each in walk(statement):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                yield each.id


def assigns_one_of(statement: ast.stmt, names: Set[str]) -> bool:
    """True for an assignment to one of some variables."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in names
    return False
