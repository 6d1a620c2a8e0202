"""Numbers that a program certainly computes in half precision although their digits count."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Constant, Tensor, Value
from precision_lint.facts.dtypes.libraries.copies import COPIES
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.operators.operands import is_unreduced, operand
from precision_lint.facts.numerics.half_results import (
    SUMS,
    TOTALS,
    HalfResult,
    averaged_copy,
    running_total,
    sum_of_squares,
)
from precision_lint.facts.numerics.half_updates import LOST_BELOW, HalfUpdate, half_updates
from precision_lint.facts.numerics.positions import ANGLES, range_in_half
from precision_lint.facts.numerics.program import calls_of_program
from precision_lint.facts.numerics.uses import holders, mentions, used_by
from precision_lint.model.dtypes import FLOAT16, HALF
from precision_lint.model.finding import Related, Span
from precision_lint.model.memo import fact
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import SyntaxTree, calls_by_span, syntax_tree

_RANGES = frozenset({"arange", "linspace"})
_OUTER = frozenset({"outer", "ger", "einsum", "mul", "matmul"})
_RANDOM = frozenset({"rand", "rand_like"})
_INTEGRAL = frozenset({"long", "int", "embedding"})
_VANISHING = 2.0**-25
"""The largest number that float16 rounds to zero."""


@dataclass(frozen=True, slots=True)
class ProgramRounding:
    """A call that loses digits: what it computes, in which dtype, and what comes of it."""

    call: Call
    problem: str
    dtype: str
    effect: str
    related: tuple[Related, ...]


@fact
def program_rounding(file: PythonFile) -> tuple[ProgramRounding, ...]:
    """Such calls, in the order of the source."""
    found: dict[Span, ProgramRounding] = {}
    for call in calls_of_program(file):
        if call.span not in found:
            found.update((each.call.span, each) for each in _found(call, file))
    for update in half_updates(calls_of_program(file), file):
        if update.is_certain and update.rate is not None and update.rate < LOST_BELOW:
            found.setdefault(update.call.span, _of_update(update))
    return tuple(found[span] for span in sorted(found))


def _found(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    if call.name in _RANGES:
        yield from _range(call, file)
    elif call.name in _RANDOM:
        yield from _logarithm_of_noise(call, file)
    elif call.function == "torch.nn.functional.cross_entropy":
        yield from _loss(call)
    elif call.name == "cumsum":
        yield from _counted(call, file)
    elif call.name == "add":
        yield from _vanishing(call, file)
    if call.name in _OUTER:
        yield from _angles(call, file)
    for names, judge, problem, effect in _RESULTS:
        result = judge(call, file) if call.name in names else None
        if result is not None and result.is_certain:
            yield _of_result(result, problem, effect)


_RESULTS = (
    (
        TOTALS,
        running_total,
        "a loop adds to a total",
        "the total stops growing where a step is below its last digit",
    ),
    (
        SUMS,
        sum_of_squares,
        "squares are summed",
        "squares of numbers above 255 overflow, those of small numbers become 0",
    ),
    (
        COPIES,
        averaged_copy,
        "weights are averaged",
        "with a decay near 1, the average does not move",
    ),
)


def _of_result(result: HalfResult, problem: str, effect: str) -> ProgramRounding:
    call, dtype = result.call, result.dtype
    return ProgramRounding(call, f"{problem} in {dtype}", dtype, effect, result.related)


def _of_update(update: HalfUpdate) -> ProgramRounding:
    """An optimizer whose steps are too small for the weights that it gets."""
    problem = f"`{update.optimizer}` updates weights in {update.dtype} at a rate of {update.rate:g}"
    related = (update.origin.related, *(site.related for site in update.origin.route))
    effect = "most of these weights do not change"
    return ProgramRounding(update.call, problem, update.dtype, effect, related)


def _range(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    """Positions that are made in half precision and become angles."""
    position = range_in_half(call, file)
    if position is not None and position.is_certain:
        use = position.use
        used = [] if use is None else [file.related(use, "angles are computed from them here")]
        related = (position.origin.related, *used)
        problem = f"the numbers of this range are {position.dtype}"
        yield ProgramRounding(
            call, problem, position.dtype, "neighboring positions round to the same number", related
        )


def _angles(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    """Positions times frequencies in half precision, of which a sine or a cosine is taken."""
    node = file.node_at(call.span)
    syntax = syntax_tree(file)
    halves = [
        one.value
        for one in call.arguments
        if _is_certain(one.value) and not _has_positions(file.node_at(one.span), syntax)
    ]
    use = used_by(node, ANGLES, syntax) if node is not None and halves else None
    tensor = next(iter(halves), None)
    if use is None or not isinstance(tensor, Tensor) or not _has_positions(node, syntax):
        return
    origin = () if tensor.origin is None else (tensor.origin.related,)
    used = file.related(file.span_of(use), "angles are computed from them here")
    dtype = min(tensor.dtypes)
    problem = f"positions are multiplied by frequencies in {dtype}"
    effect = "the angles of far positions are wrong"
    yield ProgramRounding(call, problem, dtype, effect, (*origin, used))


def _has_positions(node: ast.expr | None, syntax: SyntaxTree) -> bool:
    """True for an expression that works with a range of the same function."""
    if node is None:
        return False
    made = [
        each
        for each in own_nodes(syntax.body(node))
        if isinstance(each, ast.Call) and callee_name(each) in _RANGES
    ]
    return any(mentions(node, each, holders(each, syntax)) for each in made)


def _logarithm_of_noise(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    """`torch.log(torch.rand_like(x))` of half precision, which is 0 every 256th or 2048th time."""
    node = calls_by_span(file).get(call.span)
    given = call.keywords.get("dtype")
    first = call.argument(0, "input") if call.name == "rand_like" else None
    value = None if first is None else first.value
    if given is not None:
        value = as_dtype(given.value).of_tensor()
    if node is None or not _is_certain(value) or not isinstance(value, Tensor):
        return
    use = used_by(node, frozenset({"log"}), syntax_tree(file))
    if use is not None:
        dtype = min(value.dtypes)
        used = file.related(file.span_of(use), "its logarithm is taken here")
        origin = () if value.origin is None else (value.origin.related,)
        problem = f"uniform noise is drawn in {dtype}"
        yield ProgramRounding(
            call, problem, dtype, "the logarithm of exact zeros is infinite", (*origin, used)
        )


def _loss(call: Call) -> Iterator[ProgramRounding]:
    """Cross entropy of logits in half precision, outside of autocast."""
    logits = call.argument(0, "input")
    tensor = None if logits is None else logits.value
    if call.autocast is not None or is_unreduced(call):
        return
    if isinstance(tensor, Tensor) and _is_certain(tensor):
        dtype = min(tensor.dtypes)
        origin = () if tensor.origin is None else (tensor.origin.related,)
        problem = f"cross entropy is computed in {dtype}"
        yield ProgramRounding(call, problem, dtype, "many losses round to the same number", origin)


def _counted(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    """A running sum in half precision that is used as integers."""
    node = calls_by_span(file).get(call.span)
    given = operand(call, 0, "input")
    if node is None or given is None or not _is_certain(given.value) or "dtype" in call.keywords:
        return
    use = used_by(node, _INTEGRAL, syntax_tree(file))
    if use is not None and isinstance(given.value, Tensor):
        dtype = min(given.value.dtypes)
        origin = () if given.value.origin is None else (given.value.origin.related,)
        used = file.related(file.span_of(use), "it is used as integers here")
        problem = f"a running sum in {dtype} is used as integers"
        yield ProgramRounding(
            call, problem, dtype, "a count in half precision stops at 256 or 2048", (*origin, used)
        )


def _vanishing(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    """`x + 1e-8` of float16, which adds nothing: a sum of zero stays zero."""
    values = [one.value for one in call.arguments]
    numbers = [
        value.value
        for value in values
        if isinstance(value, Constant) and isinstance(value.value, float)
    ]
    tensors = [value for value in values if _is_certain(value)]
    if not (tensors and numbers and 0 < abs(numbers[0]) < _VANISHING):
        return
    (tensor, *_) = tensors
    if isinstance(tensor, Tensor) and tensor.must_be(frozenset({FLOAT16})):
        origin = () if tensor.origin is None else (tensor.origin.related,)
        problem = f"{numbers[0]} is zero in float16, the dtype of the other operand"
        yield ProgramRounding(call, problem, FLOAT16, "a division by zero is still one", origin)


def _is_certain(value: Value | None) -> bool:
    return isinstance(value, Tensor) and value.must_be(HALF)
