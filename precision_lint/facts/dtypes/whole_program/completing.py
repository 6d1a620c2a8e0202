"""What `__post_init__` makes of the fields that a record was given.

It runs at the end of the `__init__` that the fields of the record write.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import UNKNOWN, Constant, Instance, Value
from precision_lint.facts.dtypes.interpreter.decisions import kept_attribute
from precision_lint.facts.dtypes.syntax.definitions import Class, Function
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.source.python.syntax import innermost_name

_METHODS = ("__post_init__", "__attrs_post_init__", "model_post_init")


def completing(classes: Classes, definition: Class) -> Function | None:
    """The method of a record that is called with its fields set."""
    return next(filter(None, (classes.method(definition, each) for each in _METHODS)), None)


def completed_fields(classes: Classes, definition: Class, method: Function) -> frozenset[str]:
    """The attributes that the completing method assigns itself, and no method that it calls."""
    found = set[str]()
    for each in classes.bases(definition):
        for name, setting in each.methods_assigning.items():
            if method in setting and not _is_changed_elsewhere(classes, definition, method, name):
                found.add(name)
    return frozenset(found)


def _is_changed_elsewhere(classes: Classes, definition: Class, method: Function, name: str) -> bool:
    """True for an attribute that a method assigns which the completing method may call."""
    return any(
        (each is not method or method.is_long)
        and each is not owner.initialiser
        and (each is method or each.name.rpartition(".")[2] in method.methods_named)
        for owner in classes.bases(definition)
        for each in owner.methods_assigning.get(name, ())
    )


def left_open(classes: Classes, definition: Class, method: Function) -> frozenset[str]:
    """The attributes that methods assign which the completing method may call."""
    return frozenset(
        name
        for each in classes.bases(definition)
        for name in each.methods_assigning
        if _is_changed_elsewhere(classes, definition, method, name)
    )


def completed(
    tracing: Tracing, method: Function, given: Instance, names: Iterable[str]
) -> Mapping[str, Value]:
    """What the completing method leaves in some attributes of a record."""
    owner = given.definition
    first = method.parameters[0].arg if method.parameters else "self"
    kept = Environment()
    for name, value in given.fields:
        if isinstance(value, Constant) and name not in names:
            path = ast.Attribute(ast.Name(first, ast.Load()), name, ast.Load())
            kept[kept_attribute(path)] = value
    handed = (name for name, field in owner.annotated.items() if _is_handed_on(field))
    for parameter, name in zip(method.parameters[1:], handed, strict=False):
        kept[parameter.arg] = given.field(name) or UNKNOWN
    start = replace(
        given, fields=tuple({**dict.fromkeys(names, UNKNOWN), **dict(given.fields)}.items())
    )
    left = tracing.left_in_object(method, start, kept, names)
    return {name: (left.field(name) or UNKNOWN) if left else UNKNOWN for name in names}


def _is_handed_on(field: ast.AnnAssign) -> bool:
    """True for `dtype: InitVar[torch.dtype]`, a parameter that is no field."""
    return innermost_name(field.annotation) == "InitVar"
