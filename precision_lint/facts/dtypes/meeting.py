"""Calls that are given a dtype that the code decides, and that of weights: they raise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import Model, Tensor
from precision_lint.facts.dtypes.interpreter.loaded_in_half import is_fixed
from precision_lint.facts.dtypes.operators.agreement import Disagreement, disagreement
from precision_lint.facts.dtypes.operators.module_inputs import REJECTED, rejected
from precision_lint.model.dtypes import BFLOAT16
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen

HALF_WEIGHTS = frozenset({BFLOAT16})
"""The dtype of weights in the runs that are judged."""


@frozen
class Meeting:
    """A call that is given a dtype that the code decides, and that of the weights."""

    call: Call
    operator: str
    fixed: Argument
    """What the code decides, as far as it can be seen at the call."""
    tensor: Tensor
    follows: Argument | None
    """What has the dtype of the weights; None for the weights of a layer."""
    disagreement: Disagreement | None
    """The operands that do not agree; None for a layer."""

    def error(self, weights: str) -> str:
        """What torch raises where the weights have a dtype."""
        if self.disagreement is None:
            return REJECTED
        dtypes = (weights if each in HALF_WEIGHTS else each for each in self.disagreement.dtypes)
        first, second = dtypes
        return replace(self.disagreement, dtypes=(first, second)).error

    @property
    def dtype(self) -> str:
        return min(self.tensor.dtypes)

    def source(self, file: PythonFile) -> tuple[Path, Span]:
        """Where what the code decides gets its dtype; the call, if that is not one place."""
        origin = self.tensor.origin
        if origin is None:
            return file.text.path, self.call.span
        return origin.source.path, origin.span


def meeting(call: Call) -> Meeting | None:
    """What does not agree at one call; None if a side of it is not certain."""
    if isinstance(call.called, Model):
        return _rejected(call, call.called)
    return _disagreeing(call)


def _rejected(call: Call, layer: Model) -> Meeting | None:
    given = call.argument(0, "input")
    if given is None or not isinstance(given.value, Tensor):
        return None
    if rejected(layer, given.value) is None or not _meet(given.value, layer.parameters):
        return None
    return Meeting(call, call.name, given, given.value, None, None)


def _disagreeing(call: Call) -> Meeting | None:
    found = disagreement(call)
    if found is None or not found.is_proved or found.may_be_scalar:
        return None
    one, other = found.first, found.second
    if _meet(other.tensor, one.tensor):
        one, other = other, one
    elif not _meet(one.tensor, other.tensor):
        return None
    return Meeting(call, found.operator, one.argument, one.tensor, other.argument, found)


def _meet(fixed: Tensor, follows: Tensor) -> bool:
    return is_fixed(fixed) and follows.must_be(HALF_WEIGHTS)
