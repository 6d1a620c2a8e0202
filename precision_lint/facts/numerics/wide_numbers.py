"""Whether an argument may be a number above 65504, as far as its syntax says."""

from __future__ import annotations

import ast

from precision_lint.model.dtypes import FLOAT16
from precision_lint.model.ranges import LAYOUTS
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree

_NUMERIC = frozenset({"float", "int", "finfo", "min", "max", "pow", "getattr", "get"})
"""Calls that give numbers; calls of other names give tensors, mostly."""


def may_be_wide(number: ast.expr, syntax: SyntaxTree) -> bool:
    """False for a small number, and for what is seen to be a tensor."""
    match number:
        case ast.UnaryOp(operand=operand):
            return may_be_wide(operand, syntax)
        case ast.Constant(value=bool() | str() | None):
            return False
        case ast.Constant(value=int() | float() as written):
            return not _fits(written)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
            return "inf" not in text
        case ast.Name():
            held = binding(number, syntax)
            return not isinstance(held, list) or any(map(_may_be_number, held))
    return _may_be_number(number)


def _may_be_number(value: ast.expr) -> bool:
    match value:
        case ast.Call():
            return callee_name(value) in _NUMERIC
        case ast.Subscript() | ast.Compare() | ast.BoolOp():
            return False
    return True


def _fits(number: float) -> bool:
    try:
        return LAYOUTS[FLOAT16].holds(float(number))
    except OverflowError:
        return False
