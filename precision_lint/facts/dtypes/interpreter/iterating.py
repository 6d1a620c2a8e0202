"""Objects of the project that are iterated over or indexed: data sets, streams, collections."""

from __future__ import annotations

from precision_lint.facts.dtypes.domain.containers import item_of
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    FunctionValue,
    Instance,
    Sequence,
    Value,
)
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural


def iterated(analysis: Interprocedural, value: Value) -> Value:
    """What a loop or a `DataLoader` goes through: an object whose items its class makes as a list.

    `__iter__` yields them or hands out another object, `__getitem__` gives one for each number.
    """
    match reading(value):
        case Instance() as made:
            items = result(analysis, made, "__iter__")
            match None if items is None else reading(items):
                case Sequence() as several:
                    return several
                case Instance() as iterator if one := result(analysis, iterator, "__next__"):
                    return Sequence(one)
            if items is None and (one := entry(analysis, made, UNKNOWN)) is not None:
                return Sequence(one)
    return value


def unpacked(analysis: Interprocedural, value: Value) -> Value:
    """What an assignment to several targets unpacks: an object as the items that it yields.

    Where these are not told apart, nothing is known of any.
    """
    match reading(value):
        case Instance(definition=definition) as made if not definition.is_named_tuple:
            match iterated(analysis, made):
                case Sequence(items=tuple()) as several:
                    return several
            return UNKNOWN
    return value


def item(analysis: Interprocedural, value: Value) -> Value:
    """What iterating over a value yields."""
    return item_of(iterated(analysis, value))


def entry(analysis: Interprocedural, made: Instance, index: Value) -> Value | None:
    """What the `__getitem__` of an object gives for an index; None if it has none."""
    return result(analysis, made, "__getitem__", index)


def result(analysis: Interprocedural, made: Instance, name: str, *arguments: Value) -> Value | None:
    """What a method that Python calls returns for some arguments; None if the class has none."""
    if analysis.is_intraprocedural:
        return None
    match analysis.instances.attribute(made, name):
        case FunctionValue(definition=definition) as method:
            names = (parameter.arg for parameter in definition.parameters[1:])
            given = Environment(dict.fromkeys(names, UNKNOWN))
            given.update(zip(given, arguments, strict=False))
            return analysis.summaries.result(method, given, None).value
    return None
