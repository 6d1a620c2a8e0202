"""The nodes of a syntax tree: `ast.walk` and `ast.iter_child_nodes` at a fraction of their price.

Whether a name is read or assigned (`ast.Load`, `ast.Store`) is not a node of its own here: those
are a third of the nodes of a tree, and nobody looks for them.
"""

from __future__ import annotations

import ast

_PLAIN = frozenset(
    {
        "id", "attr", "ctx", "arg", "asname", "module", "level", "kind", "type_comment", "simple",
        "conversion", "is_async", "kwd_attrs", "rest", "lineno", "tag",
    }
)  # fmt: skip
"""Fields that hold no nodes, whichever class they are of."""
_LEAVES = (ast.Constant, ast.alias, ast.Global, ast.Nonlocal)
FIELDS = {
    kind: tuple(
        name for name in kind._fields if name not in _PLAIN and not issubclass(kind, _LEAVES)
    )
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""The fields of each class of nodes that may hold nodes."""


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, in the order of its fields."""
    return _with_children([], [node])


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, level by level."""
    found = [node]
    return _with_children(found, found)  # it grows meanwhile


def _with_children(found: list[ast.AST], nodes: list[ast.AST]) -> list[ast.AST]:
    """The list with the nodes right below some others at its end."""
    for node in nodes:  # every node of a project: `getattr` and `isinstance` would take longer
        fields = FIELDS[type(node)]
        if not fields:
            continue
        held = node.__dict__
        for name in fields:
            if name in held:
                value = held[name]
                if type(value) is list:
                    found += value if None not in value else filter(None, value)
                elif type(value) in FIELDS:
                    found.append(value)
    return found
