"""The marks on values: how they are put on, found again and taken off."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from precision_lint.facts.triton.values import Tensor, Trace


def traced(value: Tensor, traces: frozenset[Trace]) -> Tensor:
    """A tensor with these traces instead of its own."""
    if traces == value.provenance.traces:
        return value
    return replace(value, provenance=replace(value.provenance, traces=traces))


def without(value: Tensor, kinds: Set[str]) -> Tensor:
    """A tensor that bears no traces of these kinds."""
    traces = value.provenance.traces
    if not traces:
        return value
    return traced(value, frozenset(trace for trace in traces if trace.kind not in kinds))


def of_kind(kind: str, traces: frozenset[Trace]) -> frozenset[Trace]:
    """The traces of one kind."""
    return frozenset(trace for trace in traces if trace.kind == kind)
