"""What certainly raises in the run whose weights are loaded in half precision.

A class with a `from_pretrained` that takes a dtype offers this run. Its `forward` is interpreted
from there: with weights of bfloat16, with an input, and with the defaults of all other parameters,
so that what it calls is given what this run gives it. Where one operand of an operator, or the
input of a layer, certainly has a dtype that the code decides, and the other side that of the
weights, the two do not agree.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import closing, suppress

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call, CallSite
from precision_lint.facts.dtypes.domain.values import (
    FunctionValue,
    Instance,
    Tensor,
    perhaps_floating,
    tensor,
)
from precision_lint.facts.dtypes.escaping import PRODUCTS, WRITES, fixed_dtypes_meeting_others
from precision_lint.facts.dtypes.functions_of_file import Reachable
from precision_lint.facts.dtypes.interpreter.asked import SETTING_ITEM, Asked, Question
from precision_lint.facts.dtypes.interpreter.budget import BudgetExceeded
from precision_lint.facts.dtypes.meeting import HALF_WEIGHTS, Meeting, meeting
from precision_lint.facts.dtypes.operators.module_inputs import LAYERS
from precision_lint.facts.dtypes.operators.operands import may_fail_on_purpose, of_real_numbers
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, module_of
from precision_lint.facts.dtypes.whole_program.interpretation import Interpretation, Subject
from precision_lint.facts.dtypes.whole_program.parameters import bound
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import INT64
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex

MEETING_CALLS = PRODUCTS | WRITES | LAYERS | {"Sequential", SETTING_ITEM}
_CHOOSING = regex(r"dtype|autocast|float|half|bf16|fp16|fp32|upcast|precision", re.IGNORECASE)
"""In conditions that tell runs of one precision from those of another."""


@frozen
class LoadedMeeting:
    """What does not agree in a run whose weights are loaded in bfloat16."""

    meeting: Meeting
    loaded: Origin
    """The class whose weights are loaded."""
    is_kept: bool
    """The library loads weights in the dtype of their checkpoint, if nobody asks for another."""


@frozen
class HalfCall:
    """A call of a run whose weights are loaded in bfloat16: see `LoadedMeeting` for the rest."""

    call: Call
    loaded: Origin
    is_kept: bool


@fact
def meetings_in_half(file: PythonFile) -> tuple[LoadedMeeting, ...]:
    """The calls that raise, in the run of some model of the file: the first for each source."""
    found: dict[object, LoadedMeeting] = {}
    for each in calls_in_half(file, MEETING_CALLS, fixed_dtypes_meeting_others(file)):
        met = meeting(each.call)
        if met is not None and is_plain(each.call, file):
            found.setdefault(met.source(file), LoadedMeeting(met, each.loaded, each.is_kept))
    by_call = {each.meeting.call.span: each for each in reversed(found.values())}
    return tuple(by_call[span] for span in sorted(by_call))


def calls_in_half(
    file: PythonFile, names: frozenset[str], reached: Reachable
) -> Iterator[HalfCall]:
    """The calls of the runs that come to some functions, each function once."""
    # What is found until the budget is spent is given such operands, whatever comes later.
    with suppress(BudgetExceeded, RecursionError):
        yield from _calls_in_half(file, names, reached) if reached else ()


def is_plain(call: Call, file: PythonFile) -> bool:
    """False under autocast, under a condition about dtypes, and for what is meant to fail."""
    is_chosen = any(_CHOOSING.search(file.text[guard.span]) for guard in call.guards)
    return call.autocast is None and not is_chosen and not may_fail_on_purpose(call, file)


def _calls_in_half(
    file: PythonFile, names: frozenset[str], reached: Reachable
) -> Iterator[HalfCall]:
    done: set[ast.FunctionDef] = set()
    subject = Subject(file, Asked.of(module_of(file), [Question(names)]), None, is_aside=True)
    subject.budget.go_beyond()
    calls: list[Call] = []
    run = Interpretation(subject, {}, is_intraprocedural=False, in_half=calls)
    with closing(subject), closing(run):
        for definition in subject.module.top.values():
            if not isinstance(definition, Class):
                continue
            forward = _forward(run, definition)
            loaded = None if forward is None else run.classes.loaded(definition)
            if forward is None or loaded is None or reached.below(forward.node) <= done:
                continue
            done |= reached.below(forward.node)
            is_kept = not run.configuration.loads_in_float32(_library(run, definition))
            try:
                model = Instance(definition, parameters=Tensor(HALF_WEIGHTS, origin=loaded))
                run_forward(run, model, forward, loaded)
            finally:
                yield from (HalfCall(of_real_numbers(call), loaded, is_kept) for call in calls)
                calls.clear()


def _forward(run: Interpretation, definition: Class) -> Function | None:
    """The `forward` of a class, if it is in the same file."""
    forward = run.classes.method(definition, "forward")
    return None if forward is None or forward.module is not definition.module else forward


def _library(run: Interpretation, definition: Class) -> str:
    return "diffusers." if run.classes.derives_from(definition, "ModelMixin") else ""


def run_forward(run: Interpretation, model: Instance, forward: Function, start: Origin) -> None:
    """Interpret `forward` of a model as for a caller who leaves the defaults."""
    parameters = bound(run, forward, model, CallSite(start.source, start.span, (), {}))
    for parameter in forward.parameters[1:2]:  # what a model computes from is never left out
        is_integral = parameter.arg in sources.TOKENS or sources.INTEGRAL_NAME.search(parameter.arg)
        parameters[parameter.arg] = tensor(INT64) if is_integral else perhaps_floating()
    run.summaries.result(FunctionValue(forward, model), parameters, None)
