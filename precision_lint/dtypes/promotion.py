"""Type promotion: the dtype of an operation on two operands, as torch 2.13 decides it."""

from __future__ import annotations

import ast

from precision_lint.dtypes.values import (
    BFLOAT16,
    BOOL,
    DTYPES,
    FLOAT8,
    FLOAT16,
    FLOAT32,
    FLOATING,
    FOREIGN,
    INT64,
    UNKNOWN,
    Constant,
    Foreign,
    Sequence,
    Tensor,
    Value,
    tensor,
)

INTEGRAL = DTYPES - FLOATING
_WIDE = frozenset({FLOAT32, "float64"})


def operator(left: Value, right: Value, op: type[ast.operator]) -> Value:
    """The value of a binary operator outside of autocast."""
    match left, right:
        case Tensor(), Tensor():
            return divided(promote(left, right)) if op is ast.Div else promote(left, right)
        case (Tensor() as operand, other) | (other, Tensor() as operand):
            return divided(operand) if op is ast.Div else with_scalar(operand, other)
        case (Foreign(), Foreign() | Constant()) | (Constant(), Foreign()):
            return FOREIGN
        case Sequence(items=None), _:
            return left
    return UNKNOWN


def divided(operand: Tensor) -> Tensor:
    """The result of an operator that makes floats: integers and bools become float32."""
    if not operand.dtypes & INTEGRAL:
        return operand
    floats = (operand.dtypes & FLOATING) | {FLOAT32}
    return Tensor(floats, operand.chosen, operand.partial, operand.origin)


def with_scalar(operand: Tensor, scalar: Value) -> Tensor:
    """A tensor beside a Python number, which is weak: it changes the kind, never the width."""
    match scalar:
        case Constant(value=float()):
            return divided(operand)
        case Constant(value=int(number)) if not isinstance(number, bool):
            return tensor(INT64) if operand.proved(frozenset({BOOL})) else operand
    return operand


def promote(left: Tensor, right: Tensor) -> Tensor:
    """The dtype of an operation on two tensors of dimension one or more (torch 2.13)."""
    origin = left.origin or right.origin
    dtypes = frozenset(promoted(a, b) for a in left.dtypes for b in right.dtypes)
    is_partial = left.partial or right.partial
    # float32 beside any other dtype decides; integers and bools never do.
    for operand in (left, right):
        if operand.proved(_WIDE) and (is_partial or left.chosen or right.chosen):
            return Tensor(operand.dtypes, origin=origin)
    if not left.chosen and not right.chosen:
        return Tensor(dtypes, partial=is_partial or not dtypes, origin=origin)
    return Tensor(dtypes, chosen=True, partial=is_partial, origin=origin)


_RANK = [
    BOOL, "uint8", "int8", "int16", "uint16", "int32", "uint32", INT64, "uint64", *sorted(FLOAT8),
    BFLOAT16, FLOAT16, FLOAT32, "float64", "complex32", "complex64", "complex128",
]  # fmt: skip


def promoted(one: str, other: str) -> str:
    """`torch.promote_types` by name."""
    if {one, other} == {BFLOAT16, FLOAT16}:
        return FLOAT32
    return max(one, other, key=_RANK.index)
