"""Matrix products of float32 in TF32: only what was computed in float32 loses digits there."""

from __future__ import annotations

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.notes.elements import KEEPS_ELEMENTS, is_float32
from precision_lint.facts.triton.notes.scene import Call, Scene
from precision_lint.facts.triton.notes.traces import of_kind, traced, without
from precision_lint.facts.triton.values import UNKNOWN, Tensor, Trace, Value
from precision_lint.model.frozen import frozen

_FITS_TF32 = types.NARROW | {"int1", "int8", "uint8"}
"""Every number of these dtypes is one of TF32, too."""
_EXACT = frozenset({"exact"})


@frozen
class MatrixProducts:
    """Watches what is multiplied as a matrix.

    Elements bear `exact` if they are float32, but were narrower, as far as is known.
    """

    scene: Scene

    def operated(self, found: Tensor) -> Tensor:
        """What an operator computes in float32 is a number of its own."""
        return without(found, _EXACT)

    def called(self, call: Call, found: Value) -> Value:
        """A function that returns `found`."""
        if not isinstance(found, Tensor):
            return found
        if call.name == "cast" and is_float32(found) and _may_fit(call.arguments.get(0, "input")):
            return traced(found, found.provenance.traces | {Trace("exact", call.site)})
        if self.scene.is_elsewhere:
            return found
        if call.name == "dot":
            self._multiplied(call)
        return found if call.name in KEEPS_ELEMENTS else without(found, _EXACT)

    def _multiplied(self, call: Call) -> None:
        given = call.arguments
        operands = [given.get(0, "input"), given.get(1, "other")]
        told = [given.get(3, "input_precision"), given.get(4, "allow_tf32")]
        are_rounded = all(map(is_float32, operands)) and not all(map(_is_exact, operands))
        if are_rounded and told == [None, None]:
            self.scene.see("tf32", call.site, "dot", operands[0] or UNKNOWN)


def _may_fit(value: Value | None) -> bool:
    return not isinstance(value, Tensor) or not value.dtypes.isdisjoint(_FITS_TF32)


def _is_exact(value: Value | None) -> bool:
    return isinstance(value, Tensor) and bool(of_kind("exact", value.provenance.traces))
