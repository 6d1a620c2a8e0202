"""What the table of one interpretation holds: attributes, globals and summaries of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from precision_lint.facts.dtypes.domain.calls import Rejection
from precision_lint.facts.dtypes.domain.values import BOTTOM, UNKNOWN, Value
from precision_lint.facts.dtypes.interpreter.fixpoint import FixpointTable
from precision_lint.facts.dtypes.interpreter.frame import Change, OuterName
from precision_lint.model.frozen import frozen


@frozen
class Summary:
    """The value of an entry.

    Of a call also what it leaves in the containers that it was given, by parameter, and in the
    variables of the functions and the module around it.
    """

    value: Value
    out_state: Mapping[str, Value] = field(default_factory=dict)
    changed: Mapping[OuterName, Change] = field(default_factory=dict)
    rejections: tuple[Rejection, ...] = ()
    """Layers that the call certainly runs and that reject what they are given."""


Table: TypeAlias = FixpointTable[Summary]


def new_table(is_late: Callable[[], bool]) -> Table:
    """An empty table; `is_late` says that no time is left to compute recursive entries again."""
    return FixpointTable(Summary(BOTTOM), Summary(UNKNOWN), is_late)
