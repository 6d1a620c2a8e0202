"""Indexes and slices as they are written: the integers in them, where they are literals."""

from __future__ import annotations

import ast


def integer(node: ast.expr) -> int | None:
    """The value of `1` or `-1`; None for anything else."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None


def bounds_of(node: ast.Slice) -> slice | None:
    """The slice that literals write, such as `[1:]`; None if another expression is a part of it."""
    parts = (node.lower, node.upper, node.step)
    numbers = [None if part is None else integer(part) for part in parts]
    is_known = all(
        (part is None) is (one is None) for part, one in zip(parts, numbers, strict=True)
    )
    return slice(*numbers) if is_known and numbers[2] != 0 else None
