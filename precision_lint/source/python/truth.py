"""Whether a condition holds, as far as that is known of its parts: `None` is what is not known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

OfPart: TypeAlias = Callable[[ast.expr], "bool | None"]
"""Whether a part holds that is neither a `not` nor an `and` nor an `or`."""


def truth(test: ast.expr, of_part: OfPart) -> bool | None:
    """Whether a condition holds. Parts are asked in order, until one decides."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return opposite(truth(operand, of_part))
        case ast.BoolOp(op=op, values=values):
            return connected(op, (truth(value, of_part) for value in values))
    return of_part(test)


def opposite(value: bool | None) -> bool | None:
    """What `not` makes of a value."""
    return None if value is None else not value


def connected(op: ast.boolop, values: Iterable[bool | None]) -> bool | None:
    """What `and`, or `or`, makes of values."""
    decisive, is_open = isinstance(op, ast.Or), False
    for value in values:
        if value is decisive:
            return decisive
        is_open = is_open or value is None
    return None if is_open else not decisive


def deciding_part(test: ast.expr, of_part: OfPart) -> ast.expr:
    """The part that alone makes a condition true, or false; of several, the first."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return deciding_part(operand, of_part)
        case ast.BoolOp(values=values):
            whole = truth(test, of_part)
            return deciding_part(
                next(value for value in values if truth(value, of_part) is whole), of_part
            )
    return test


def implied(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The parts that must hold, or fail, for a whole condition to hold, or to fail."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from implied(operand, not holds)
        case ast.BoolOp(op=op, values=values) if holds is isinstance(op, ast.And):
            for value in values:
                yield from implied(value, holds)
        case _:
            yield test, holds
