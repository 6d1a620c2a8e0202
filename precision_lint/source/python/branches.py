"""Branches of statements of which only one runs."""

from __future__ import annotations

import ast

from precision_lint.source.python.syntax_tree import SyntaxTree


def are_alternatives(one: ast.AST, other: ast.AST, syntax: SyntaxTree) -> bool:
    """True if two nodes are in branches of one statement of which only one runs."""
    of_one = _branches(one, syntax)
    return any(
        of_one.get(statement, branch) != branch
        for statement, branch in _branches(other, syntax).items()
    )


def _branches(node: ast.AST, syntax: SyntaxTree) -> dict[ast.AST, object]:
    """The statements around a node that run one of their branches, and which one it is in."""
    found: dict[ast.AST, object] = {}
    inner = node
    for parent in syntax.around(node):
        match parent:
            case ast.If(test=test, body=body) if inner is not test:
                found[parent] = inner in body
            case ast.Match(subject=subject) if inner is not subject:
                found[parent] = inner
        inner = parent
    return found
