"""Whether a `for` loop has a pass, and what it leaves if it has none."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import by_dtypes
from precision_lint.facts.dtypes.domain.values import DtypeSet, Value
from precision_lint.source.python.nodes import walk

_D = TypeVar("_D", bound=DtypeSet)


def certainly_passes(loop: ast.For | ast.AsyncFor) -> bool:
    """True for a loop over a display with elements, or over `range` of numbers that are there."""
    match loop.iter:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return any(not isinstance(item, ast.Starred) for item in items)
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]):
            match arguments:
                case [ast.Constant(value=int(stop))]:
                    return stop > 0
                case [ast.Constant(value=int(start)), ast.Constant(value=int(stop))]:
                    return stop > start
    return False


def may_break(loop: ast.For) -> bool:
    """True for a loop that may end before its last pass."""
    return any(isinstance(node, ast.Break) for node in walk(loop))


def without_pass(before: Environment, ends: Sequence[Environment]) -> Environment:
    """What was known before a loop, if there is no pass of it.

    Nobody starts a run for that: of what the loop changes, the dtypes from before are a guess.
    """
    guessed: dict[int, Value] = {}
    skipped = before.copy()
    for name, value in before.items():
        if any(end.get(name) is not value for end in ends):
            # Names of one object stay names of one object.
            if id(value) not in guessed:
                guessed[id(value)] = by_dtypes(_as_guess, value)
            skipped[name] = guessed[id(value)]
    return skipped


def _as_guess(dtypes: _D) -> _D:
    origin = dtypes.origin
    return dtypes if origin is None else replace(dtypes, origin=replace(origin, is_guess=True))
