"""Scalar parameters that are float64, and make float64 of what they are computed with."""

from __future__ import annotations

import ast
from dataclasses import field, replace

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.notes.scene import Scene
from precision_lint.facts.triton.notes.traces import of_kind, without
from precision_lint.facts.triton.values import Tensor, Trace, Value
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen

_FLOAT64 = frozenset({"fp64"})
_MARK = frozenset({"double"})


@frozen
class Doubles:
    """Watches what float64 parameters are computed with.

    What is float64 because of a parameter bears `double` for it.
    """

    scene: Scene
    factors: set[str] = field(default_factory=set)
    """The parameters that floats are added to or multiplied with: counts divide."""

    def operated(self, op: ast.operator, left: Value, right: Value, found: Tensor) -> None:
        """`left op right`, which is `found`."""
        self.computed(found)
        if not isinstance(op, ast.Add | ast.Sub | ast.Mult):
            return
        for one, other in ((left, right), (right, left)):
            if not isinstance(one, Tensor) or not isinstance(other, Tensor):
                continue
            doubles = doubles_in(one)
            if len(doubles) == 1 and one.rank == 0 and other.dtypes <= types.FLOATS:
                self.factors.update(doubles)

    def computed(self, found: Value) -> None:
        """A block of float64 that a scalar parameter made so."""
        if isinstance(found, Tensor) and found.dtypes == _FLOAT64 and found.rank:
            for parameter in sorted(doubles_in(found)):
                self.scene.see("float64", self.scene.here, parameter, found)


def as_double(value: Tensor, name: str, place: Span) -> Tensor:
    """The value of a scalar parameter if it is passed as float64."""
    traces = frozenset({Trace("double", place, name)})
    return Tensor(_FLOAT64, 0, provenance=replace(value.provenance, traces=traces))


def doubles_in(value: Value) -> frozenset[str]:
    """The parameters that make a value float64."""
    if not isinstance(value, Tensor) or value.dtypes != _FLOAT64:
        return frozenset()
    marks = of_kind("double", value.provenance.traces)
    return frozenset(mark.parameter for mark in marks if mark.parameter is not None)


def without_doubles(value: Value) -> Value:
    """A value that was converted from float64 bears no mark of it."""
    if not isinstance(value, Tensor) or "fp64" in value.dtypes:
        return value
    return without(value, _MARK)
