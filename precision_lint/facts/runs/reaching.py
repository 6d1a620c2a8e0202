"""Whether a statement or an expression is reached, given which conditions hold in a run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeAlias

from precision_lint.source.python.statements import FunctionDefinition, blocks
from precision_lint.source.python.syntax_tree import SyntaxTree

Holds: TypeAlias = Callable[[ast.expr], "bool | None"]
"""Whether a condition holds; None if that is not known."""


def is_reached(node: ast.AST, syntax: SyntaxTree, holds: Holds) -> bool:
    """False if a condition around a node fails, or if its function is certainly left before."""
    inner = node
    for parent in syntax.around(node):
        if isinstance(parent, ast.If | ast.IfExp) and inner is not parent.test:
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            if holds(parent.test) is (inner not in body):
                return False
        if isinstance(inner, ast.stmt) and not isinstance(parent, ast.Module):
            before = _before(inner, parent)
            if any(_leaves(statement, holds) for statement in before):
                return False
        if isinstance(parent, FunctionDefinition):
            return True
        inner = parent
    return True


def _before(statement: ast.stmt, parent: ast.AST) -> Sequence[ast.stmt]:
    """The statements before one in its block."""
    if not isinstance(parent, ast.stmt):
        return ()
    found = [parent.body] if isinstance(parent, FunctionDefinition) else []
    found += [block.body for block in blocks(parent)]
    block = next((each for each in found if statement in each), [])
    return block[: block.index(statement)] if block else ()


def _leaves(statement: ast.stmt, holds: Holds) -> bool:
    """True if a function is certainly left in a statement."""
    match statement:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(test=test, body=body, orelse=orelse):
            decided = holds(test) if _has_exit(statement) else None
            if decided is None:
                return _any(body, holds) and _any(orelse, holds)
            return _any(body if decided else orelse, holds)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return _any(body, holds)
    return False


def _any(body: Sequence[ast.stmt], holds: Holds) -> bool:
    return any(_leaves(statement, holds) for statement in body)


def _has_exit(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Return | ast.Raise) for node in ast.walk(statement))
