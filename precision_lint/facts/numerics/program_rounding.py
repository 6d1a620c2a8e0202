"""Numbers that a program certainly computes in half precision although their digits count."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Constant, Tensor, Value
from precision_lint.facts.dtypes.libraries.copies import COPIES
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.operators.operands import is_unreduced
from precision_lint.facts.numerics.half_results import (
    SUMS,
    TOTALS,
    HalfResult,
    averaged_copy,
    may_be_sum_of_squares,
    running_total,
    sum_of_squared_array,
    sum_of_squares,
)
from precision_lint.facts.numerics.half_updates import HalfUpdate, half_updates
from precision_lint.facts.numerics.program import calls_of_program
from precision_lint.facts.numerics.uses import used_by
from precision_lint.model.dtypes import FLOAT16, HALF
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.syntax_tree import calls_by_span, syntax_tree

_RANDOM = frozenset({"rand", "rand_like"})
_VANISHING = 2.0**-25
"""The largest number that float16 rounds to zero."""


@frozen
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
        if update.is_certain and update.is_stuck and update.is_so_in_all_runs:
            found.setdefault(update.call.span, _of_update(update))
    return tuple(found[span] for span in sorted(found))


@fact
def squares_of_program(file: PythonFile) -> tuple[HalfResult, ...]:
    """The sums of squares that the program certainly computes in float16, of tensors or arrays."""
    syntax = syntax_tree(file)
    sums = (each for name in SUMS for each in syntax.calls(name))
    if not any(may_be_sum_of_squares(each) for each in sums):
        return ()
    found: dict[Span, HalfResult] = {}
    for call in calls_of_program(file):
        if call.name not in SUMS or call.span in found:
            continue
        result = sum_of_squares(call, file) or sum_of_squared_array(call, file)
        if result is not None and result.is_certain:
            found[call.span] = result
    return tuple(found[span] for span in sorted(found))


def _found(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    if call.name in _RANDOM:
        yield from _logarithm_of_noise(call, file)
    elif call.function == "torch.nn.functional.cross_entropy":
        yield from _loss(call, file)
    elif call.name == "add":
        yield from _vanishing(call)
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
    problem = f"`{update.optimizer}` updates weights in bfloat16 at a rate of {update.rate:g}"
    related = (update.origin.related, *(site.related for site in update.origin.route))
    effect = "most of these weights do not change"
    return ProgramRounding(update.call, problem, update.dtype, effect, related)


def _logarithm_of_noise(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    """`torch.log(torch.rand_like(x))` of half precision, which is 0 every 256th or 2048th time."""
    node = calls_by_span(file).get(call.span)
    given = call.keywords.get("dtype")
    first = call.argument(0, "input") if call.name == "rand_like" else None
    value = None if first is None else first.value
    if given is not None:
        value = as_dtype(given.value).of_tensor()
    if node is None or not is_certainly_half(value) or not isinstance(value, Tensor):
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


def _loss(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    """Cross entropy of logits in half precision, outside of autocast."""
    logits = call.argument(0, "input")
    tensor = None if logits is None else logits.value
    if call.autocast is not None or is_unreduced(call, file):
        return
    if isinstance(tensor, Tensor) and is_certainly_half(tensor):
        dtype = min(tensor.dtypes)
        origin = () if tensor.origin is None else (tensor.origin.related,)
        problem = f"cross entropy is computed in {dtype}"
        yield ProgramRounding(call, problem, dtype, "many losses round to the same number", origin)


def _vanishing(call: Call) -> Iterator[ProgramRounding]:
    """`x + 1e-8` of float16, which adds nothing: a sum of zero stays zero."""
    values = [one.value for one in call.arguments]
    numbers = [
        value.value
        for value in values
        if isinstance(value, Constant) and isinstance(value.value, float)
    ]
    tensors = [value for value in values if is_certainly_half(value)]
    if not (tensors and numbers and 0 < abs(numbers[0]) < _VANISHING):
        return
    (tensor, *_) = tensors
    if isinstance(tensor, Tensor) and tensor.must_be(frozenset({FLOAT16})):
        origin = () if tensor.origin is None else (tensor.origin.related,)
        problem = f"{numbers[0]} is zero in float16, the dtype of the other operand"
        yield ProgramRounding(call, problem, FLOAT16, "a division by zero is still one", origin)


def is_certainly_half(value: Value | None) -> bool:
    """True for a tensor that is in half precision in every run."""
    return isinstance(value, Tensor) and value.must_be(HALF)
