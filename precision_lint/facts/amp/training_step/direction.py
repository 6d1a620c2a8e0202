"""The norm of a gradient that only makes a direction of it, as adversarial training does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree

_DIVISIONS = frozenset({"div", "div_", "divide", "divide_", "true_divide", "true_divide_"})
_CHECKS = frozenset({"isnan", "isinf", "isfinite"})


def is_gradient(node: ast.expr) -> bool:
    """`p.grad`, `p.grad.data`, `p.grad.detach()`."""
    match node:
        case ast.Attribute(attr="grad"):
            return True
        case ast.Attribute(value=owner, attr="data"):
            return is_gradient(owner)
        case ast.Call(func=ast.Attribute(value=owner, attr="detach" | "float"), args=[]):
            return is_gradient(owner)
    return False


def makes_a_direction(norm: ast.Call, syntax: SyntaxTree) -> bool:
    """True if gradients are divided by a norm, and nothing else is done with it.

    A loss scale is in the gradient as well as in its norm, so it is not in the quotient.
    """
    match syntax.parent(norm):
        case ast.Assign(targets=[ast.Name(id=name)]) as statement:
            reads = _reads(name, statement, syntax)
            return bool(reads) and all(
                _divides(read, syntax) or _is_checked(read, syntax) for read in reads
            )
    return _divides(norm, syntax)


def _reads(name: str, statement: ast.stmt, syntax: SyntaxTree) -> list[ast.Name]:
    own = own_nodes(syntax.body(statement))
    return [
        node
        for node in own
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]


def _divides(value: ast.expr, syntax: SyntaxTree) -> bool:
    """True for a norm, or a norm and an epsilon, that a gradient is divided by."""
    for node, parent in _upwards(value, syntax):
        match parent:
            case ast.BinOp(op=ast.Add()):
                continue
            case ast.BinOp(left=divided, op=ast.Div(), right=divisor) if divisor is node:
                return _holds_gradient(divided)
            case ast.Call(func=ast.Attribute(value=divided, attr=name), args=[first, *_]):
                return name in _DIVISIONS and first is node and _holds_gradient(divided)
        return False
    return False


def _is_checked(value: ast.expr, syntax: SyntaxTree) -> bool:
    """True for a norm that is compared with zero, or looked through for NaN and inf."""
    match syntax.parent(value):
        case ast.Compare(left=left, comparators=[ast.Constant(value=0)]):
            return left is value
        case ast.Call() as call:
            return callee_name(call) in _CHECKS
    return False


def _upwards(node: ast.expr, syntax: SyntaxTree) -> Iterator[tuple[ast.AST, ast.AST]]:
    inner: ast.AST = node
    for parent in syntax.around(node):
        yield inner, parent
        inner = parent


def _holds_gradient(node: ast.expr) -> bool:
    return any(isinstance(each, ast.expr) and is_gradient(each) for each in walk(node))
