"""Losses that `forward` of a class computes of half logits, as a program makes its weights half."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.dtypes.forward_run import (
    HalfForward,
    calls_in_forward,
    parameters_of,
)
from precision_lint.facts.dtypes.half_run import is_plain
from precision_lint.facts.dtypes.operators.operands import is_unreduced
from precision_lint.facts.dtypes.syntax.definitions import Class
from precision_lint.facts.origin import PathCondition
from precision_lint.facts.settings.choosing import options_choosing
from precision_lint.model.dtypes import BFLOAT16, FLOAT16, HALF
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex

LOSSES = {
    "torch.nn.functional.cross_entropy": "F.cross_entropy",
    "torch.nn.functional.nll_loss": "F.nll_loss",
    "torch.nn.CrossEntropyLoss.forward": "nn.CrossEntropyLoss",
}
"""Classification losses, and how code calls them."""

_CALLED = frozenset({"cross_entropy", "nll_loss", "CrossEntropyLoss"})
_NAMED = regex(r"cross_entropy|CrossEntropyLoss|nll_loss")


@frozen
class LossInForward:
    """A loss in `forward`: the dtype, and whether all runs of the program have it."""

    call: Call
    dtype: str
    is_certain: bool
    related: tuple[Related, ...]


@fact
def losses_in_forward(file: PythonFile) -> tuple[LossInForward, ...]:
    """Such losses, each as the first program that makes it half."""
    found: dict[Span, LossInForward] = {}
    for run, call in calls_in_forward(file, _CALLED, lambda each: _may_compute(each, file)):
        for each in _loss(run, call, file):
            found.setdefault(call.span, each)
    return tuple(found[span] for span in sorted(found))


def _may_compute(definition: Class, file: PythonFile) -> bool:
    return _NAMED.search(file.text[file.span_of(definition.node)]) is not None


def _loss(run: HalfForward, call: Call, file: PythonFile) -> Iterator[LossInForward]:
    logits = call.value(0, "input")
    if call.function not in LOSSES or not isinstance(logits, Tensor) or not logits.must_be(HALF):
        return
    if not _is_of_weights(logits, run) or not is_plain(call, file) or is_unreduced(call, file):
        return
    needed = _needed(call, run, file)
    if needed is None:
        return
    for program in run.programs:
        chosen = options_choosing(program.origin, file, call.span, file.project)
        is_certain = program.weights.must_be(HALF) and not program.is_conditional
        is_offered = is_certain or program.origin.witness is not None or chosen
        if is_offered and program.gives(needed, parameters_of(run.forward), file):
            dtype = BFLOAT16 if BFLOAT16 in program.weights.dtypes else FLOAT16
            places = (program.origin, *program.origin.route)
            related = (*(place.related for place in places), *chosen)
            yield LossInForward(call, dtype, is_certain, related)


def _is_of_weights(logits: Tensor, run: HalfForward) -> bool:
    """True for logits that have the dtype of the weights, and none that `forward` chooses."""
    origin = logits.origin
    if origin is None or origin.is_guess:
        return False
    return (origin.source, origin.span) == (run.origin.source, run.origin.span)


def _needed(call: Call, run: HalfForward, file: PythonFile) -> frozenset[str] | None:
    """The parameters of `forward` that a call gives which comes here; None if that is not known."""
    conditions = [*call.guards, *(each for site in call.way for each in site.guards)]
    found: set[str] = set()
    for each in conditions:
        node = file.node_at(each.span)
        names = None if node is None else _not_none(node, each)
        if names is None or not names <= {*parameters_of(run.forward)}:
            return None
        found |= names
    return frozenset(found)


def _not_none(test: ast.expr, condition: PathCondition) -> set[str] | None:
    """The names that are not None where a condition holds, or fails, that says nothing else."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values) if condition.holds:
            found = [_not_none(each, condition) for each in values]
            return None if None in found else {name for each in found if each for name in each}
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]
        ) if condition.holds:
            return {name}
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]
        ) if not condition.holds:
            return {name}
    return None
