"""Which case of a `match` runs for a value that is known."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def runs_case(cases: Sequence[ast.match_case], case: ast.match_case, value: object) -> bool | None:
    """Whether a case runs, as no one before it fits and it does; None if that is not known."""
    is_certain = True
    for each in cases:
        fits = _fits(each.pattern, value)
        if each is case:
            if fits is False:
                return False
            return True if fits and is_certain and each.guard is None else None
        if fits and each.guard is None:
            return False if is_certain else None
        is_certain &= fits is False
    return None


def _fits(pattern: ast.pattern, value: object) -> bool | None:
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _fits(inner, value)
        case ast.MatchValue(value=ast.Constant(value=wanted)):
            return bool(wanted == value)
        case ast.MatchSingleton(value=wanted):
            return wanted is value
        case ast.MatchOr(patterns=patterns):
            found = [_fits(each, value) for each in patterns]
            return True if True in found else None if None in found else False
    return None
