"""What `__init__` leaves in the attributes of an object, as the run of a program makes it."""

from __future__ import annotations

from collections.abc import Mapping

from precision_lint.facts.dtypes.domain.values import (
    Dtype,
    Instance,
    Model,
    ModelOutput,
    Tensor,
    Value,
)
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.syntax.definitions import Class, Function
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.program import Program

_SETTING = frozenset({"__setattr__", "__getattribute__"})
"""Methods of classes whose attributes may be anything."""


def attributes_left(initialiser: Function, frame: Frame) -> tuple[str, ...]:
    """The paths of the attributes of `self` that are known wherever `__init__` ends."""
    prefix = f"{initialiser.parameters[0].arg}." if initialiser.parameters else "."
    paths = {path for end in frame.exits for path in end.paths if path.startswith(prefix)}
    return tuple(sorted(path for path in paths if path[len(prefix) :].isidentifier()))


def constructed(
    classes: Classes,
    program: Program,
    definition: Class,
    initialiser: Function,
    left: Mapping[str, Value],
) -> tuple[tuple[str, Value], ...]:
    """The attributes that an object keeps as its construction made them.

    Nothing but `__init__` assigns them, in the class or elsewhere, as far as the source shows.
    """
    if any(classes.method(definition, name) is not None for name in _SETTING):
        return ()
    if program.main.sets_by_name or definition.module.sets_by_name:
        return ()
    prefix = f"{initialiser.parameters[0].arg}." if initialiser.parameters else "."
    found = ((path.removeprefix(prefix), value) for path, value in left.items() if "." in path)
    return tuple(
        (name, value)
        for name, value in found
        if _is_certain(value)
        and classes.method(definition, name) is None
        and _is_assigned_by(initialiser, classes, definition, name)
        and not program.is_assigned_from_outside(name)
        and not program.is_cast_from_outside(name)
    )


def _is_assigned_by(initialiser: Function, classes: Classes, definition: Class, name: str) -> bool:
    """True if no other method of a class assigns an attribute."""
    methods = [
        method
        for each in classes.bases(definition)
        for method in each.methods_assigning.get(name, ())
    ]
    return methods == [initialiser]


def _is_certain(value: Value) -> bool:
    match value:
        case Tensor() | Dtype() as dtypes:
            return not dtypes.is_open
        case ModelOutput(tensor=tensor) | Model(parameters=tensor):
            return not tensor.is_open
    return isinstance(value, Instance)
