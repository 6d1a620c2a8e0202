"""Offsets that are int32 where they may pass 2^31: a place in the grid times a stride."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.notes.scene import Call, Scene
from precision_lint.facts.triton.notes.sights import Key, Observation
from precision_lint.facts.triton.notes.traces import of_kind, traced
from precision_lint.facts.triton.values import NO_TRACES, Pointer, Tensor, Trace, Value, merged
from precision_lint.model.finding import Span

_ACCESSES = frozenset({"load", "store", "atomic_add"})
_INT64 = frozenset({"int64"})


@dataclass(slots=True)
class Offsets:
    """Watches what is computed from places in the grid, and added to pointers.

    Integers bear `grid` for the place in the grid that they come from, `product` for such a place
    times a stride, `late` for such a product that is int64 only afterwards. A pointer bears those
    of its int32 offsets; `wide` if one is int64, `doubtful` if one may be either.
    """

    scene: Scene
    wide: set[str] = field(default_factory=set)
    """The pointer parameters that int64 offsets are added to."""
    _indices: set[Span] = field(default_factory=set)
    """The products that are multiplied further as int64: rows, no offsets of elements."""

    def operated(self, op: ast.operator, left: Value, right: Value, found: Tensor) -> Tensor:
        """`left op right`, which is `found`."""
        traces = found.provenance.traces
        if self.scene.is_elsewhere:
            return found
        match op:
            case ast.Mult() | ast.FloorDiv() if late := of_kind("late", traces):
                self._indices |= {trace.place for trace in late}
                return traced(found, traces - late)
            case ast.Mult() if _is_grid_times_scalar(left, right) and _is_int32(found):
                return traced(found, traces | {Trace("product", self.scene.here)})
        return found

    def added(self, left: Value, right: Value, found: Pointer) -> Pointer:
        """A pointer and an offset, in either order."""
        traces = found.traces
        for offset in (left, right):
            if isinstance(offset, Tensor):
                traces = merged(traces, self._handed_on(offset))
        return replace(found, traces=traces)

    def _handed_on(self, offset: Tensor) -> frozenset[Trace]:
        """The traces that a pointer bears for an offset."""
        traces = offset.provenance.traces
        integers = offset.dtypes & types.INTEGERS
        if integers == types.INT32 or of_kind("late", traces):
            return traces
        if integers == _INT64:
            return traces | {Trace("wide", self.scene.here)}
        return traces | {Trace("doubtful", self.scene.here)}

    def called(self, call: Call, found: Value) -> Value:
        """A function that returns `found`."""
        if call.name in _ACCESSES:
            self._accessed(call.arguments.get(0, "pointer"))
        if not isinstance(found, Tensor):
            return found
        if call.name == "program_id":
            return traced(found, frozenset({Trace("grid", self.scene.crossing or call.site)}))
        if self.scene.is_elsewhere:
            return found
        match call.name:
            case "cast" if found.dtypes == _INT64:
                return traced(found, _late(call.arguments.get(0, "input")))
        return found

    def _accessed(self, pointer: Value | None) -> None:
        if not isinstance(pointer, Pointer) or pointer.parameter is None:
            return
        if of_kind("wide", pointer.traces):
            # Indices are few: that theirs are int64 shows nothing.
            if not pointer.elements <= types.INTEGERS:
                self.wide.add(pointer.parameter)
        elif of_kind("doubtful", pointer.traces):
            return
        elif late := of_kind("late", pointer.traces):
            self.scene.see("late cast", _first(late), pointer.parameter, pointer)
        elif products := of_kind("product", pointer.traces):
            # With the first product, the sum is int64.
            self.scene.see("offset", _first(products), pointer.parameter, pointer)

    def without_indices(self, seen: Mapping[Key, Observation]) -> dict[Key, Observation]:
        """What was seen in a run but late casts of rows."""
        return {
            key: sight
            for key, sight in seen.items()
            if sight.kind != "late cast" or sight.place not in self._indices
        }


def _first(traces: frozenset[Trace]) -> Span:
    return min(trace.place for trace in traces)


def _late(value: Value | None) -> frozenset[Trace]:
    """The marks on a product that is converted to int64 after it may have overflowed."""
    if not isinstance(value, Tensor):
        return NO_TRACES
    traces = value.provenance.traces
    late = frozenset(Trace("late", trace.place) for trace in of_kind("product", traces))
    return late | of_kind("grid", traces) if late else NO_TRACES


def _is_int32(product: Tensor) -> bool:
    """True unless it is int64, or may be, or is of a dtype that is not known here."""
    return product.dtypes & types.INTEGERS == types.INT32


def _is_grid_times_scalar(left: Value, right: Value) -> bool:
    """True for a place in the grid times an integer that is only known at run time."""
    return any(
        isinstance(one, Tensor)
        and isinstance(other, Tensor)
        and bool(of_kind("grid", one.provenance.traces))
        and other.rank == 0
        and bool(other.provenance.parameters)
        and not other.provenance.traces
        for one, other in ((left, right), (right, left))
    )
