"""Numbers that code writes out: `-1e9`, `10 ** 9`, `float("-inf")`, `torch.finfo(dtype).min`.

Only expressions of literals are computed. `n + 1` for a variable that holds 1 is not: a recursion
would make new numbers without end.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from precision_lint.facts.dtypes.domain.values import (
    INTEGER,
    NON_TENSOR,
    Constant,
    LibraryObject,
    NonTensor,
    Value,
)
from precision_lint.facts.dtypes.operators.conversions import as_dtype
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

OF_MATH = {name: Constant(getattr(math, name)) for name in ("pi", "e", "tau", "inf", "nan")}
"""The constants of the module `math`."""
_INTEGERS_OF_MATH = frozenset(
    {"floor", "ceil", "trunc", "gcd", "lcm", "comb", "perm", "factorial", "isqrt"}
)
_OTHERS_OF_MATH = frozenset({"isfinite", "isinf", "isnan", "isclose", "frexp", "modf", "prod"})


def of_math(name: str) -> NonTensor:
    """What a function of the module `math` gives: a number, whatever it is given."""
    if name in _OTHERS_OF_MATH:
        return NON_TENSOR
    return INTEGER if name in _INTEGERS_OF_MATH else _FLOAT


def of_numbers(left: Value, right: Value, op: type[ast.operator]) -> NonTensor | None:
    """What an operator gives for two numbers whose values do not count; None for other objects."""
    if op not in _OPERATORS or not (is_number(left) and is_number(right)):
        return None
    match right:
        case Constant(value=int() | float() as exponent) if op is ast.Pow and exponent < 0:
            return _FLOAT
    if op is ast.Div or _is_float(left) or _is_float(right):
        return _FLOAT
    return NON_TENSOR if op is ast.Pow else INTEGER


def is_number(value: Value) -> bool:
    """True for an integer or a float of Python."""
    match value:
        case Constant(value=bool()):
            return False
        case Constant(value=int() | float()):
            return True
    return value in {INTEGER, _FLOAT}  # others are scalars of NumPy


def _is_float(value: Value) -> bool:
    return value == _FLOAT or (isinstance(value, Constant) and isinstance(value.value, float))


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
