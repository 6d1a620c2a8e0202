"""Whether a call of another module can come back to the linted file: by what it is given."""

from __future__ import annotations

from collections.abc import Iterable

from precision_lint.facts.dtypes.domain.values import (
    ClassObject,
    Dictionary,
    FunctionValue,
    Instance,
    Mixed,
    Model,
    OneOf,
    Partial,
    Sequence,
    Value,
)
from precision_lint.facts.dtypes.syntax.definitions import Module


def leads_to(module: Module, values: Iterable[Value | None]) -> bool:
    """True if one of some values is or holds a function or an object of the module's code."""
    pending = [value for value in values if value is not None]
    while pending:
        match pending.pop():
            case FunctionValue(definition=definition, receiver=receiver):
                if definition.module is module:
                    return True
                pending += [] if receiver is None else [receiver]
            case ClassObject(definition=definition):
                if definition.module is module:
                    return True
            case Instance(definition=definition, fields=fields):
                if definition.module is module:
                    return True
                pending += [value for _, value in fields]
            case Model(members=members) | OneOf(members=members):
                pending += members
            case Sequence(item=item, beginning=beginning):
                pending += [item, *beginning]
            case Dictionary(item=item, items=members, default=default):
                pending += [item, default, *(value for _, value in members or ())]
            case Partial(function=function, arguments=arguments, keywords=keywords):
                pending += [function, *arguments, *(value for _, value in keywords)]
            case Mixed(sequence=sequence, mapping=mapping, other=other):
                pending += [each for each in (sequence, mapping, other) if each is not None]
    return False
