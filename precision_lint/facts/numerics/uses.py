"""Where a value goes inside of its function, followed by the names that hold what is made of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name, dotted
from precision_lint.source.python.syntax_tree import SyntaxTree

_MOST_ROUNDS = 6
"""Assignments that lead from one name to the next."""

_ABOUT = frozenset({"shape", "dtype", "device", "ndim"})


def used_by(made: ast.expr, names: frozenset[str], syntax: SyntaxTree) -> ast.Call | None:
    """The first call, of a function or method of these names, that works with what is made."""
    own = own_nodes(syntax.function(made) or syntax.tree)
    named = [node for node in own if isinstance(node, ast.Call) and callee_name(node) in names]
    held = holders(made, syntax) if named else set()
    calls = [node for node in named if mentions(node, made, held)]
    return min(calls, key=lambda node: (node.lineno, node.col_offset), default=None)


def holders(made: ast.expr, syntax: SyntaxTree) -> set[str]:
    """The names and attributes of its function that hold what is made of a value."""
    nodes = list(own_nodes(syntax.function(made) or syntax.tree))
    held: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        before = len(held)
        for node in nodes:
            match node:
                case ast.Assign(targets=targets, value=value):
                    pass
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    targets = [target]
                case _:
                    continue
            if mentions(value, made, held):
                held |= {path for each in targets for path in _names(each)}
        if len(held) == before:
            break
    return held


def _names(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from _names(item)
        case ast.Name() | ast.Attribute() if (path := dotted(target)) is not None:
            yield path


def mentions(node: ast.expr, made: ast.expr, held: set[str]) -> bool:
    """True if an expression works with the value; what asks for its shape or dtype does not."""
    if isinstance(node, ast.Compare) or (isinstance(node, ast.Attribute) and node.attr in _ABOUT):
        return False
    if node is made:
        return True
    if isinstance(node, ast.Name | ast.Attribute) and dotted(node) in held:
        return True
    return any(
        mentions(inner, made, held)
        for child in ast.iter_child_nodes(node)
        for inner in ([child.value] if isinstance(child, ast.keyword) else [child])
        if isinstance(inner, ast.expr)
    )
