"""What a path takes for granted: the truth of conditions, by their source text."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

PathConditions = Mapping[str, bool]


def truth(test: ast.expr, assumed: PathConditions) -> bool | None:
    """Whether a condition holds under assumptions; None if they do not say."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = truth(operand, assumed)
            return None if value is None else not value
        case ast.BoolOp(op=op, values=values):
            decisive = isinstance(op, ast.Or)
            known = [truth(value, assumed) for value in values]
            if decisive in known:
                return decisive
            if None not in known:
                return not decisive
    text, positive = _atom(test)
    return assumed[text] is positive if text in assumed else None


def assuming(test: ast.expr, holds: bool, assumed: PathConditions) -> PathConditions:
    """The assumptions, and that a condition holds, or does not."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return assuming(operand, not holds, assumed)
        case ast.BoolOp(op=op, values=values) if holds is isinstance(op, ast.And):
            for value in values:
                assumed = assuming(value, holds, assumed)
            return assumed
    text, positive = _atom(test)
    return {**assumed, text: holds is positive}


def without(names: frozenset[str], assumed: PathConditions) -> PathConditions:
    """The assumptions that do not mention names which have changed."""
    if not names or not assumed:
        return assumed
    return {text: value for text, value in assumed.items() if not mentions(text, names)}


def mentions(text: str, names: frozenset[str]) -> bool:
    """True if a condition mentions one of some variables or attributes (`self.step`)."""
    return any(re.search(rf"(?<![\w.]){re.escape(name)}\b", text) for name in names)


def _atom(test: ast.expr) -> tuple[str, bool]:
    """A condition as others may spell it too: `x is not None` is the opposite of `x is None`."""
    match test:
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[right]):
            return f"{ast.unparse(left)} is {ast.unparse(right)}", False
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
            return f"{ast.unparse(left)} == {ast.unparse(right)}", False
        case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[right]):
            return f"{ast.unparse(left)} in {ast.unparse(right)}", False
        case ast.NamedExpr(value=value):
            return _atom(value)
    return ast.unparse(test), True
