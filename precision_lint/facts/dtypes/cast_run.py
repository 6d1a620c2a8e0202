"""What certainly raises in the run of a model that a program casts to a half dtype.

`model = Net()` and `model.to(dtype)` in a program offer this run. It begins at `forward` of the
class that is cast, or at other methods that the program calls, which may stand in another file,
with weights of a half dtype, and comes to the file by the modules that such a model holds. Where
one operand of an operator, or the input of a layer, certainly has a dtype that the code decides,
and the other side that of the weights, the two do not agree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing, suppress

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.cast_programs import called_as_cast
from precision_lint.facts.dtypes.domain.calls import Call, CallSite
from precision_lint.facts.dtypes.domain.values import FunctionValue, Instance, Tensor
from precision_lint.facts.dtypes.escaping import (
    fixed_dtypes_meeting_others,
    imported_as,
    meeting_others_with_imports,
)
from precision_lint.facts.dtypes.functions_of_file import Imported, Reachable
from precision_lint.facts.dtypes.half_run import MEETING_CALLS, is_plain, run_forward
from precision_lint.facts.dtypes.interpreter.asked import Asked, Question
from precision_lint.facts.dtypes.interpreter.budget import BudgetExceeded
from precision_lint.facts.dtypes.meeting import HALF_WEIGHTS, Meeting, meeting
from precision_lint.facts.dtypes.operators.operands import of_real_numbers
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, module_of
from precision_lint.facts.dtypes.whole_program.interpretation import Interpretation, Subject
from precision_lint.facts.dtypes.whole_program.parameters import bound
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import HALF
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax import callee_name

_LOADED = regex(r"\b(?:PreTrainedModel|ModelMixin)\b")
"""Classes whose weights are loaded in the dtype that a caller names: see `half_run`."""


@frozen
class CastMeeting:
    """What does not agree in a run of a model that a program casts."""

    meeting: Meeting
    weights: Origin
    """What casts the model, or chooses the dtype."""
    dtype: str
    """The dtype to which the program casts it."""


@fact
def meetings_in_cast_models(file: PythonFile) -> tuple[CastMeeting, ...]:
    """The calls that raise, in the run of some model that a program casts.

    Of what stands under a condition that this run does not decide, nothing is known.
    """
    found: dict[object, CastMeeting] = {}
    with suppress(BudgetExceeded, RecursionError):
        for cast, call in _calls(file):
            met = meeting(of_real_numbers(call))
            if met is None or _is_under_condition(call) or not is_plain(call, file):
                continue
            if cast.dtype not in met.tensor.dtypes:
                made = CastMeeting(met, cast.weights, cast.dtype)
                found.setdefault(met.source(file), made)
    by_call = {each.meeting.call.span: each for each in reversed(found.values())}
    return tuple(by_call[span] for span in sorted(by_call))


def _is_under_condition(call: Call) -> bool:
    return bool(call.guards) or any(site.guards for site in call.way)


@frozen
class _Cast:
    """A program casts the modules of a class."""

    weights: Origin
    dtype: str
    methods: frozenset[str]
    """What the program calls of them."""


def _calls(file: PythonFile) -> Iterator[tuple[_Cast, Call]]:
    """The calls of the file to which the runs of cast models come."""
    if _LOADED.search(file.text.text):
        return
    subject = Subject(
        file, Asked.of(module_of(file), [Question(MEETING_CALLS)]), None, is_aside=True
    )
    subject.budget.go_beyond()
    with closing(subject):
        imported = [*_imported(subject.program)]
        reached = (
            meeting_others_with_imports(file, imported)
            if imported
            else fixed_dtypes_meeting_others(file)
        )
        if not reached:
            return
        casts = _casts(subject, reached, file)
        calls: list[Call] = []
        run = Interpretation(subject, {}, is_intraprocedural=False, in_half=calls)
        with closing(run):
            for definition, cast in casts.items():
                # What does not agree with bfloat16 does not agree with float16, except float16.
                weights = Tensor(HALF_WEIGHTS, origin=cast.weights)
                model = Instance(definition, parameters=weights)
                try:
                    for method in sorted(cast.methods):
                        _run(run, model, method, cast.weights)
                finally:
                    yield from ((cast, call) for call in calls)
                    calls.clear()


def _run(run: Interpretation, model: Instance, name: str, start: Origin) -> None:
    """Interpret a method that a program calls; of what it is given, nothing is known."""
    method = run.classes.method(model.definition, name)
    if method is None or method.is_static or method.is_class_method:
        return
    if name == "forward":
        run_forward(run, model, method, start)
        return
    parameters = bound(run, method, model, CallSite(start.source, start.span, (), {}))
    run.summaries.result(FunctionValue(method, model), parameters, None)


def _imported(program: Program) -> Iterator[Imported]:
    """The modules that classes of the file hold, and are of classes of other files."""
    module = program.main
    held = {callee_name(node) for node in module.file.nodes_of(ast.Call)}
    for name in sorted(held & module.imports.keys()):
        found = program.find(module, module.imports[name])
        definition = None if found is None else found.definition
        if isinstance(definition, Class):
            definition = definition.methods.get("forward")
        if isinstance(definition, Function) and isinstance(definition.node, ast.FunctionDef):
            one = imported_as(name, definition.node, definition.module.file)
            if one is not None:
                yield one


def _casts(subject: Subject, reached: Reachable, file: PythonFile) -> dict[Class, _Cast]:
    """The classes whose modules programs cast, and that are or hold what is reached in the file."""
    found: dict[Class, _Cast] = {}
    whole = Interpretation(subject, {}, is_intraprocedural=False)
    with closing(whole):
        for definition in subject.module.top.values():
            if not isinstance(definition, Class) or not whole.classes.is_module(definition):
                continue
            if not any(reached.below(each.node) for each in definition.methods.values()):
                continue
            for cast in whole.moving.casts(definition):
                origin, body = cast.weights.origin, cast.body
                if cast.definition in found or origin is None or body is None:
                    continue
                if methods := called_as_cast(cast.call, body, file):
                    dtype = min(cast.weights.dtypes & HALF)
                    found[cast.definition] = _Cast(origin, dtype, methods)
    return found
