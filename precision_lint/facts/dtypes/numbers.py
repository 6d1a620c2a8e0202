"""Numbers that code writes out: `-1e9`, `10 ** 9`, `float("-inf")`, `torch.finfo(dtype).min`.

Only expressions of literals are computed. `n + 1` for a variable that holds 1 is not: a recursion
would make new numbers without end.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from precision_lint.facts.dtypes.conversions import as_dtype
from precision_lint.facts.dtypes.values import NON_TENSOR, Constant, LibraryObject, NonTensor, Value
from precision_lint.model.ranges import LAYOUTS

FINFO = "torch.finfo"
"""Called with a dtype, it gives an object with the limits of this dtype."""

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}
_MOST_BITS = 1100
"""More than any floating dtype has: what is larger is no number that a tensor gets."""


def computed(node: ast.BinOp, left: Value, right: Value) -> Constant | None:
    """What an operator gives for two literals; None if one is none, or for other operators."""
    function = _OPERATORS.get(type(node.op))
    if function is None or not (_is_literal(node.left) and _is_literal(node.right)):
        return None
    match left, right:
        case Constant(value=int() | float() as one), Constant(value=int() | float() as other):
            is_huge = isinstance(node.op, ast.Pow | ast.LShift) and abs(other) > _MOST_BITS
            if is_huge or abs(one) > 2.0**_EXPONENT:
                return None
            try:
                number = function(one, other)
            except (ArithmeticError, TypeError, ValueError):
                return None
            is_small = isinstance(number, float) or (
                isinstance(number, int) and number.bit_length() <= _MOST_BITS
            )
            return Constant(number) if is_small else None
    return None


_EXPONENT = 1023
_FLOAT = NonTensor(frozenset({"float64"}), True)


def _is_literal(node: ast.expr) -> bool:
    """True for an expression without names."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_literal(operand)
        case ast.BinOp(left=left, right=right):
            return _is_literal(left) and _is_literal(right)
    return False


def to_float(given: Value) -> Value:
    """`float(x)` of a literal."""
    match given:
        case Constant(value=bool() | int() | float() | str() as written):
            try:
                return Constant(float(written))
            except (OverflowError, ValueError):
                return NON_TENSOR
    return NON_TENSOR


def limits(given: Value) -> Value:
    """`torch.finfo(dtype)`; its numbers are known if there is one dtype that it can be."""
    dtype = as_dtype(given)
    known = dtype.dtypes if dtype.must_be(frozenset(LAYOUTS)) else frozenset[str]()
    return LibraryObject(FINFO, next(iter(known))) if len(known) == 1 else LibraryObject(FINFO)


def limit(of: LibraryObject, name: str) -> Constant | NonTensor:
    """An attribute of what `limits` gives."""
    layout = LAYOUTS.get(of.precision)
    match name:
        case "max" if layout is not None:
            return Constant(layout.max)
        case "min" if layout is not None:
            return Constant(-layout.max)
        case "eps" if layout is not None:
            return Constant(layout.eps)
        case "tiny" | "smallest_normal" if layout is not None:
            return Constant(layout.tiny)
    return _FLOAT
