"""The run of `forward` of a class whose weights a program makes half.

`model = Net().to(torch.bfloat16)` and `Net.from_pretrained(…, dtype=torch.bfloat16)` in a program
offer this run, whichever file has the class. It begins at `forward`, with weights of a half dtype;
of what is given to it, nothing is known, and what it is given by the program may be anything where
the default is `None`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import closing, suppress

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call, CallSite
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    Constant,
    FunctionValue,
    Instance,
    Tensor,
    perhaps_floating,
    tensor,
)
from precision_lint.facts.dtypes.half_programs import HalfProgram, half_program
from precision_lint.facts.dtypes.interpreter.asked import Asked, Question
from precision_lint.facts.dtypes.interpreter.budget import BudgetExceeded
from precision_lint.facts.dtypes.meeting import HALF_WEIGHTS
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, module_of
from precision_lint.facts.dtypes.whole_program.interpretation import Interpretation, Subject
from precision_lint.facts.dtypes.whole_program.parameters import bound
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import INT64
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact


@frozen
class HalfForward:
    """A run of `forward`, and the programs that offer it."""

    forward: Function
    origin: Origin
    """What the weights have in this run as the place that gives them their dtype."""
    programs: tuple[HalfProgram, ...]


def calls_in_forward(
    file: PythonFile, names: frozenset[str], may_call: Callable[[Class], bool]
) -> Iterator[tuple[HalfForward, Call]]:
    """The calls of some names to which such runs come, of those classes that may make one."""
    with suppress(BudgetExceeded, RecursionError):
        yield from _calls(file, names, may_call)


def _calls(
    file: PythonFile, names: frozenset[str], may_call: Callable[[Class], bool]
) -> Iterator[tuple[HalfForward, Call]]:
    module = module_of(file)
    wanted = [
        (each, each.methods["forward"])
        for each in module.top.values()
        if isinstance(each, Class) and "forward" in each.methods and may_call(each)
        if _may_be_made(each, file)
    ]
    if not wanted:
        return
    subject = Subject(file, Asked.of(module, [Question(names)]), None)
    subject.budget.go_beyond()
    calls: list[Call] = []
    with closing(subject):
        run = Interpretation(subject, {}, is_intraprocedural=False, in_half=calls)
        with closing(run):
            for definition, forward in wanted:
                for owner, programs in _offers(subject, definition, file).items():
                    origin = programs[0].origin
                    calls.clear()
                    _run(run, owner, forward, origin)
                    this = HalfForward(forward, origin, tuple(programs))
                    yield from ((this, call) for call in calls)


def _may_be_made(definition: Class, file: PythonFile) -> bool:
    """True if a file mentions a class, which may make an object of it, or inherit it."""
    name = definition.name
    return name in _mentioned(file) or any(file.project.importing(file.text.path, name))


@fact
def _mentioned(file: PythonFile) -> frozenset[str]:
    return frozenset(node.id for node in file.nodes_of(ast.Name))


def _offers(
    subject: Subject, definition: Class, file: PythonFile
) -> dict[Class, list[HalfProgram]]:
    """The programs that make the weights of a class half, or of one that runs its `forward`."""
    found: dict[Class, list[HalfProgram]] = {}
    whole = Interpretation(subject, {}, is_intraprocedural=False)
    with closing(whole):
        if not whole.classes.has_weights(definition):
            return found
        for each in whole.loading.running(definition):
            casts = (one for one in whole.moving.casts(each) if one.definition is each)
            for made in (*whole.loading.loads(each), *casts):
                if (program := half_program(made, file)) is not None:
                    found.setdefault(each, []).append(program)
    return found


def _run(run: Interpretation, definition: Class, forward: Function, origin: Origin) -> None:
    weights = Tensor(HALF_WEIGHTS, origin=origin)
    model = Instance(definition, parameters=weights)
    given = bound(run, forward, model, CallSite(origin.source, origin.span, (), {}))
    for parameter in forward.parameters[1:2]:
        is_integral = parameter.arg in sources.TOKENS or sources.INTEGRAL_NAME.search(parameter.arg)
        given[parameter.arg] = tensor(INT64) if is_integral else perhaps_floating()
    for name, value in [*given.items()]:
        if value == Constant(None):
            given[name] = UNKNOWN
    run.summaries.result(FunctionValue(forward, model), given, None)


def parameters_of(forward: Function) -> tuple[str, ...]:
    """The names of what `forward` is given, in order."""
    return tuple(each.arg for each in forward.parameters[1:])
