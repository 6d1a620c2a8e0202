"""What certainly raises in the run whose weights are loaded in half precision.

A class with a `from_pretrained` that takes a dtype offers this run. Its `forward` is interpreted
from there: with weights of bfloat16, and with its parameters at their defaults, so that what it
calls is given what this run gives it. Where an operator or a layer then meets float32 on one side
and half precision on the other, the code decides one dtype and whoever loads the model the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.agreement import disagreement
from precision_lint.facts.dtypes.asked import SETTING_ITEM
from precision_lint.facts.dtypes.budget import BudgetExceeded
from precision_lint.facts.dtypes.calls import Argument, Call, CallSite
from precision_lint.facts.dtypes.definitions import Class
from precision_lint.facts.dtypes.interpretation import Interpretation, Subject
from precision_lint.facts.dtypes.loaded_in_half import WIDE, is_wide
from precision_lint.facts.dtypes.module_inputs import LAYERS, rejected
from precision_lint.facts.dtypes.operands import may_fail_on_purpose
from precision_lint.facts.dtypes.parameters import bound
from precision_lint.facts.dtypes.promotion import COMPLEX
from precision_lint.facts.dtypes.values import FunctionValue, Instance, Model, ModelOutput, Tensor
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import BFLOAT16, FLOAT32
from precision_lint.model.memo import fact

_PRODUCTS = frozenset(
    {
        "linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "conv1d", "conv2d", "conv3d",
        "conv_transpose1d", "conv_transpose2d", "scaled_dot_product_attention",
    }
)  # fmt: skip
_WRITES = frozenset(
    {SETTING_ITEM, "index_put_", "index_add", "index_add_", "index_copy_", "masked_scatter",
     "masked_scatter_", "scatter", "scatter_", "scatter_add", "scatter_add_"}
)  # fmt: skip
_ASKED = _PRODUCTS | _WRITES | LAYERS
_HALF = frozenset({BFLOAT16})
_CHOOSING = re.compile(r"dtype|autocast|float|half|bf16|fp16|fp32|upcast|precision", re.IGNORECASE)
"""In conditions that tell runs of one precision from those of another."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A call that is given float32 on one side and half precision on the other."""

    call: Call
    operator: str
    wide: Argument
    wide_origin: Origin | None
    half: Argument | None
    """None for the weights of a layer."""
    loaded: Origin
    """The class whose weights are loaded."""


@fact
def meetings_in_half(file: PythonFile) -> tuple[Meeting, ...]:
    """The calls that raise, in the run of some model of the file, each once."""
    found: dict[tuple[int, int], Meeting] = {}
    try:
        for each in _meetings(file):
            found.setdefault((each.call.span.start, each.call.span.end), each)
    except (BudgetExceeded, RecursionError):
        pass  # what was found until then is given such operands, whatever comes later
    return tuple(found[place] for place in sorted(found))


def _meetings(file: PythonFile) -> Iterator[Meeting]:
    subject = Subject(file, _ASKED, frozenset(), None)
    subject.budget.go_beyond()
    calls: list[Call] = []
    with closing(
        Interpretation(subject, {}, is_intraprocedural=False, in_half=calls)
    ) as interpretation:
        for definition in subject.module.top.values():
            loaded = _offered(interpretation, definition)
            if loaded is None:
                continue
            try:
                _run(interpretation, definition, loaded, file)
            finally:
                for call in calls:
                    if (meeting := _meeting(call, loaded, file)) is not None:
                        yield meeting
                calls.clear()


def _offered(interpretation: Interpretation, definition: object) -> Origin | None:
    """The class, if it can be loaded in half precision and has a `forward` here."""
    if not isinstance(definition, Class):
        return None
    loaded = interpretation.classes.loaded(definition)
    forward = interpretation.classes.method(definition, "forward")
    is_here = forward is not None and forward.module is definition.module
    return loaded if is_here else None


def _run(
    interpretation: Interpretation, definition: Class, loaded: Origin, file: PythonFile
) -> None:
    """Interpret `forward` of a model as a caller does who leaves the defaults."""
    weights = Tensor(_HALF, origin=loaded)
    model = Instance(definition, parameters=weights)
    forward = interpretation.classes.method(definition, "forward")
    assert forward is not None
    given = CallSite(file.text, loaded.span, (), {})
    parameters = bound(interpretation, forward, model, given)
    interpretation.summaries.result(FunctionValue(forward, model), parameters, None)


def _meeting(call: Call, loaded: Origin, file: PythonFile) -> Meeting | None:
    """Float32 and half precision at one call; None if one of them is not certain."""
    if call.autocast is not None or _is_chosen(call, file) or may_fail_on_purpose(call, file):
        return None
    call = replace(call, arguments=tuple(map(_real, call.arguments)), receiver=_real_value(call.receiver))
    if isinstance(call.called, Model) and call.arguments:
        given = call.arguments[0]
        dtypes = rejected(call.called, given.value)
        if dtypes is None or not _meet(given.value, call.called.parameters):
            return None
        return Meeting(call, call.name, given, _origin(given.value), None, loaded)
    found = disagreement(call)
    if found is None or not found.is_proved or found.may_be_scalar:
        return None
    one, other = found.first, found.second
    if _meet(other.tensor, one.tensor):
        one, other = other, one
    elif not _meet(one.tensor, other.tensor):
        return None
    return Meeting(call, found.operator, one.argument, one.tensor.origin, other.argument, loaded)


def _is_chosen(call: Call, file: PythonFile) -> bool:
    return any(_CHOOSING.search(file.text[guard.span]) for guard in call.guards)


def _meet(wide: object, half: object) -> bool:
    return (
        isinstance(wide, Tensor)
        and isinstance(half, Tensor)
        and is_wide(wide)
        and half.must_be(_HALF)
    )


def _real(argument: Argument) -> Argument:
    return replace(argument, value=_real_value(argument.value))


def _real_value(value: object):  # type: ignore[no-untyped-def]
    """A tensor without the complex dtypes that a number might make of it."""
    if isinstance(value, ModelOutput):
        return _real_value(value.tensor)
    if isinstance(value, Tensor) and value.dtypes & WIDE:
        return replace(value, dtypes=value.dtypes - COMPLEX)
    return value


def _origin(value: object) -> Origin | None:
    return value.origin if isinstance(value, Tensor) else None
