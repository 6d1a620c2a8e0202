"""Arithmetic on what is known at compile time."""

from __future__ import annotations

import ast
from collections.abc import Callable

from precision_lint.facts.triton.values import (
    COMPILE_TIME,
    NOT_KNOWN,
    NUMBER_NOT_KNOWN,
    Constant,
    Value,
)

_FOLDS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}

_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


def fold(op: ast.operator, left: object, right: object) -> Value:
    match left, right:
        case ((int() | float()), (int() | float())) if type(op) in _FOLDS:
            try:
                return Constant(_FOLDS[type(op)](left, right), is_number=True)
            except (ArithmeticError, ValueError):
                return NUMBER_NOT_KNOWN
    return NUMBER_NOT_KNOWN


def fold_comparison(op: ast.cmpop, left: Value, right: Value) -> Value:
    if not (isinstance(left, Constant) and isinstance(right, Constant)):
        return COMPILE_TIME
    a, b = left.value, right.value
    if NOT_KNOWN in (a, b):
        return COMPILE_TIME
    match op, a, b:
        case ast.Is(), _, _:
            return Constant(a is b)
        case ast.IsNot(), _, _:
            return Constant(a is not b)
        case ast.Eq(), _, _:
            return Constant(a == b)
        case ast.NotEq(), _, _:
            return Constant(a != b)
        case _, (int() | float()), (int() | float()) if type(op) in _COMPARISONS:
            return Constant(_COMPARISONS[type(op)](a, b))
    return COMPILE_TIME
