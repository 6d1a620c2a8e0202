"""Positions that a program certainly computes in half precision.

How many there are is not known: the first 256 of them are right in bfloat16, and 2048 in float16.
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.dtypes.operators.operands import operand
from precision_lint.facts.numerics.positions import ANGLES, OUTER, has_positions, range_in_half
from precision_lint.facts.numerics.program import calls_of_program
from precision_lint.facts.numerics.program_rounding import ProgramRounding, is_certainly_half
from precision_lint.facts.numerics.uses import used_by
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.source.python.syntax_tree import calls_by_span, syntax_tree

_RANGES = frozenset({"arange", "linspace"})
_PRODUCTS = OUTER | {"mul", "matmul"}
_INTEGRAL = frozenset({"long", "int", "embedding"})


@fact
def program_positions(file: PythonFile) -> tuple[ProgramRounding, ...]:
    """The calls that make or use such positions, in the order of the source."""
    found: dict[Span, ProgramRounding] = {}
    for call in calls_of_program(file):
        if call.span not in found:
            found.update((each.call.span, each) for each in _found(call, file))
    return tuple(found[span] for span in sorted(found))


def _found(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    if call.name in _RANGES:
        yield from _range(call, file)
    elif call.name == "cumsum":
        yield from _counted(call, file)
    if call.name in _PRODUCTS:
        yield from _angles(call, file)


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
        if is_certainly_half(one.value) and not has_positions(file.node_at(one.span), syntax)
    ]
    use = used_by(node, ANGLES, syntax) if node is not None and halves else None
    tensor = next(iter(halves), None)
    if use is None or not isinstance(tensor, Tensor) or not has_positions(node, syntax):
        return
    origin = () if tensor.origin is None else (tensor.origin.related,)
    used = file.related(file.span_of(use), "angles are computed from them here")
    dtype = min(tensor.dtypes)
    problem = f"positions are multiplied by frequencies in {dtype}"
    effect = "the angles of far positions are wrong"
    yield ProgramRounding(call, problem, dtype, effect, (*origin, used))


def _counted(call: Call, file: PythonFile) -> Iterator[ProgramRounding]:
    """A running sum in half precision that is used as integers."""
    node = calls_by_span(file).get(call.span)
    given = operand(call, 0, "input")
    if (
        node is None
        or given is None
        or not is_certainly_half(given.value)
        or "dtype" in call.keywords
    ):
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
