"""What calls do to variables of other scopes: of the functions and the module around a function.

A closure that appends to a list of the function around it, a hook that fills a dictionary, a
function that assigns a `global`: such a function is interpreted with what these variables hold
where it is called, and what it leaves in them is a part of its summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from precision_lint.facts.dtypes.domain.environment import Environment, replace_everywhere
from precision_lint.facts.dtypes.domain.lattice import join, join_all
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    UNKNOWN,
    Dictionary,
    FunctionValue,
    Instance,
    Mixed,
    Model,
    Partial,
    Sequence,
    Value,
)
from precision_lint.facts.dtypes.interpreter.closures import Closures
from precision_lint.facts.dtypes.interpreter.frame import Change, Frame, OuterName
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.definitions import Function, Module

_HOLDING = (Dictionary, Instance, Mixed, Model, Sequence)
"""What changes in place."""


def may_change(routine: FunctionValue, given: Mapping[str, Value]) -> bool:
    """True if a call may change variables of other scopes: itself, or by a function given to it."""
    return bool(routine.definition.changes) or any(map(_is_changing, given.values()))


def _is_changing(value: Value) -> bool:
    match value:
        case FunctionValue(definition=definition):
            return bool(definition.changes)
        case Partial(function=function):
            return _is_changing(function)
    return False


def called_in(
    closures: Closures, frame: Frame, routine: FunctionValue, env: Environment
) -> FunctionValue:
    """A function as it is called in a frame: it sees the variables of the frame as they are now."""
    definition = routine.definition
    if not definition.changes:
        return routine
    if frame.function is not None and definition.enclosing is frame.function:
        return replace(routine, closure=closures.over(frame, env))
    if definition.enclosing is None and definition.module is frame.module:
        held = {name: _of_top(frame, name, env) for name in definition.changes}
        closure = {name: value for name, value in held.items() if value is not None}
        return replace(routine, closure=closure) if closure or frame.function is None else routine
    return routine


def _of_top(frame: Frame, name: str, env: Environment) -> Value | None:
    """What a variable of the top level holds in a body; None if the calls to it do not say."""
    if frame.function is None:
        return env.get(name)
    if frame.closure is None or name not in frame.closure or not _is_of_top(frame, name):
        return None
    if name in env and name not in _own(frame):
        return env[name]
    before = frame.closure[name]
    change = frame.changed.get(OuterName(frame.module, name))
    return before if change is None else join(before, change.value)


def _is_of_top(frame: Frame, name: str) -> bool:
    """True for a variable of the top level that no function around the body has as well."""
    return frame.function is not None and frame.function.binding(name) is frame.module


def enter(analysis: Interprocedural, frame: Frame, env: Environment) -> None:
    """At the start of a body, the variables that it changes hold what they hold outside."""
    definition = frame.function
    assert definition is not None
    for name in definition.scope.changed:
        if name in env:
            continue
        if frame.closure is not None and name in frame.closure:
            env[name] = frame.closure[name]
        elif frame.records and _changes_global(frame, name):
            env[name] = analysis.names.in_module(definition.module, name)


def _changes_global(frame: Frame, name: str) -> bool:
    """True if a statement that matters changes a variable of the module."""
    definition = frame.function
    return (
        definition is not None
        and definition.binding(name) is definition.module
        and name in definition.module.assignments
        and any(
            name in effect.writes and frame.evaluates(effect.node) for effect in definition.def_uses
        )
    )


def left(
    definition: Function, closure: Mapping[str, Value], frame: Frame
) -> dict[OuterName, Change]:
    """What a body leaves in variables of other scopes."""
    found = dict(frame.changed)
    for name in definition.scope.changed:
        value = join_all([end[name] for end in frame.exits if name in end])
        if name in closure and value not in (BOTTOM, closure[name]):
            place = OuterName(definition.binding(name), name)
            found[place] = Change(closure[name], value).after(found.get(place))
    return found


def anything(definition: Function) -> dict[OuterName, Change]:
    """What a body leaves in variables of other scopes, where it is not looked at."""
    places = (OuterName(definition.binding(name), name) for name in definition.changes)
    return dict.fromkeys(places, Change(UNKNOWN, UNKNOWN))


def calling(definition: Function, env: Environment, closure: Mapping[str, Value]) -> frozenset[str]:
    """The names by which a body can call functions that change variables of other scopes."""
    effects = definition.def_uses if closure else ()
    reads = {name for effect in effects for name in effect.reads}
    closed_over = (name for name in reads if name in closure and _is_changing(closure[name]))
    given = (name for name, value in env.items() if _is_changing(value))
    top = definition.module.top
    of_top = (
        name
        for name in reads & top.keys() - definition.scope.own
        if isinstance(function := top[name], Function) and _changes_one_of(function, closure)
    )
    return frozenset((*closed_over, *given, *of_top))


def _changes_one_of(function: Function, closure: Mapping[str, Value]) -> bool:
    return any(name in closure for name in function.changes)


def take(changed: Mapping[OuterName, Change], frame: Frame, env: Environment) -> None:
    """A call in a frame has left these values: here, or in variables that are not of this scope."""
    for place, change in changed.items():
        if place.scope is (frame.function or frame.module):
            _assign(place.name, change.value, env)
            continue
        frame.changed[place] = change.after(frame.changed.get(place))
        if isinstance(change.before, _HOLDING):  # an object that has another name here
            replace_everywhere(change.before, join(change.before, change.value), env)
        if isinstance(place.scope, Module):
            is_here = place.name in env and _is_of_top(frame, place.name)
        else:
            is_here = True
        if is_here and place.name not in _own(frame):
            _assign(place.name, change.value, env)


def _own(frame: Frame) -> frozenset[str]:
    return frozenset() if frame.function is None else frame.function.scope.own


def _assign(name: str, value: Value, env: Environment) -> None:
    held = env.get(name)
    result = value if held is None else join(held, value)
    if isinstance(held, _HOLDING):
        replace_everywhere(held, result, env)
    env[name] = result
