"""What compile-time conditions on the way to a statement say of other conditions.

Conditions are compared as text: they are about parameters, which nothing changes on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.source.python.truth import implied

Chosen = Mapping[str, bool]
"""Conditions that are known to be true or false, by their text."""

_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq}


def follows(test: ast.expr, truth: bool) -> dict[str, bool]:
    """What a condition that is true, or false, says."""
    parts = implied(test, truth)
    return {text: is_true for part, holds in parts for text, is_true in _says(part, holds).items()}


def _says(test: ast.expr, truth: bool) -> dict[str, bool]:
    match test:
        case ast.Compare(left=left, ops=[op], comparators=comparators) if type(op) in _OPPOSITES:
            opposite = ast.Compare(left, [_OPPOSITES[type(op)]()], comparators)
            return _says(opposite, not truth)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=value)]):
            # Whatever equals 1 is true, and no other number.
            return {ast.unparse(test): truth} | ({ast.unparse(left): bool(value)} if truth else {})
    return {ast.unparse(test): truth}


def decided(test: ast.expr, chosen: Chosen) -> bool | None:
    """Whether a condition is true, if what is known says so."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=comparators) if type(op) in _OPPOSITES:
            opposite = ast.Compare(left, [_OPPOSITES[type(op)]()], comparators)
            found = decided(opposite, chosen)
            return None if found is None else not found
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=value)]):
            text, name = ast.unparse(test), ast.unparse(left)
            others = (c for c, is_true in chosen.items() if is_true and c.startswith(f"{name} == "))
            if text not in chosen and (
                chosen.get(name, bool(value)) is not bool(value) or any(others)
            ):
                return False
            return chosen.get(text)
    return chosen.get(ast.unparse(test))
