"""The fields of a record as a mapping: `asdict(batch)`, `vars(batch)`, `batch._asdict()`."""

from __future__ import annotations

from precision_lint.facts.dtypes.domain.containers import in_containers
from precision_lint.facts.dtypes.domain.lattice import join_all, reading
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    Dictionary,
    Instance,
    Sequence,
    Value,
    Variable,
)
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural

AS_MAPPING = frozenset({"dataclasses.asdict", "attr.asdict", "attrs.asdict"})
"""Functions that copy the fields of a record into a mapping, and those of the records in it."""

AS_TUPLE = frozenset({"dataclasses.astuple", "attr.astuple", "attrs.astuple"})

OWN = frozenset({"_asdict", "model_dump"})
"""Methods of named tuples and pydantic that give a mapping of their object."""


def as_mapping(analysis: Interprocedural, given: Value) -> Value:
    """`asdict(record)`: its fields by name, those of the records in them, too."""
    match reading(given):
        case Instance() as made if analysis.classes.is_record(made.definition):
            found = _fields_of(analysis, made)
            return in_containers(lambda one: _inner(analysis, one), found)
        case Variable() as variable:
            return variable.then(Step("fields"))
    return UNKNOWN


def as_tuple(analysis: Interprocedural, given: Value) -> Value:
    """`astuple(record)`: its fields in order."""
    match as_mapping(analysis, given):
        case Dictionary(item=item, items=tuple(items)):
            return Sequence(item, tuple(value for _, value in items))
    return UNKNOWN


def _inner(analysis: Interprocedural, value: Value) -> Value:
    match value:
        case Instance():
            found = as_mapping(analysis, value)
            return found if isinstance(found, Dictionary) else value
        case Sequence() | Dictionary():
            return in_containers(lambda one: _inner(analysis, one), value)
    return value


def of_object(analysis: Interprocedural, made: Instance) -> Value:
    """`vars(record)`: its fields by name; unknown for an object that is not made in sight."""
    is_made = bool(made.fields) and analysis.classes.is_record(made.definition)
    return _fields_of(analysis, made) if is_made else UNKNOWN


def _fields_of(analysis: Interprocedural, made: Instance) -> Dictionary:
    names = analysis.classes.fields(made.definition)
    items = tuple((name, analysis.instances.attribute(made, name) or UNKNOWN) for name in names)
    return Dictionary(join_all([value for _, value in items]), items)
