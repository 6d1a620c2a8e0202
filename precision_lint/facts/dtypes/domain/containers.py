"""Lists, tuples and mappings: their items, and what assignments and methods make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from precision_lint.facts.dtypes.domain.lattice import (
    by_facet,
    join,
    join_all,
    of_each_item,
    reading,
)
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    UNKNOWN,
    Bottom,
    Constant,
    Dictionary,
    Instance,
    Model,
    ModelOutput,
    NonTensor,
    OneOf,
    Sequence,
    Tensor,
    Value,
    Variable,
    output_after,
)

MOST_ENTRIES = 24
"""Entries of a mapping that are kept apart where it is iterated over."""


def item_of(value: Value) -> Value:
    """What iterating over a value yields."""
    match reading(value):
        case Sequence(item=item):
            return item
        case (Tensor() | NonTensor()) as whole:
            return replace(whole, scalar=None)
        case ModelOutput(tensor=tensor):
            return ModelOutput(replace(tensor, scalar=None))
        case Dictionary():
            return NON_TENSOR
        case Model(parameters=parameters) as model:  # the layers of a Sequential
            known = model.is_known
            return Model(parameters, widens=model.widens, is_known=known, kin=model.kin)
        case Instance(definition=definition, fields=fields) if definition.is_named_tuple:
            return join_all([value for _, value in fields])
        case Variable() as variable:
            return variable.then(Step("each"))
        case Bottom() | Constant(None):  # iterating over None raises
            return BOTTOM
    return UNKNOWN


def unpacked(value: Value, position: int) -> Value:
    """What the target at a position gets of a value that is unpacked."""
    match reading(value):
        case Sequence(beginning=beginning) if position < len(beginning):
            return beginning[position]
        case Instance(definition=definition, fields=fields) if (
            definition.is_named_tuple and position < len(fields)
        ):
            return fields[position][1]
        case Variable() as variable:
            return variable.then(Step("unpacked", position=position))
        case Bottom() as bottom:
            return bottom
        case ModelOutput(tensor=tensor):
            item = ModelOutput(replace(tensor, scalar=None))
            return output_after(item, Step("unpacked", position=position))
        case Sequence() | Tensor() | NonTensor() as read:
            return item_of(read)
    return UNKNOWN


def keyword_of(value: Value, name: str) -> Value:
    """What `f(**value)` gives to a parameter."""
    return by_facet(lambda facet: _keyword_of(facet, name), value)  # `**(given or {})`


def _keyword_of(value: Value, name: str) -> Value:
    match value:
        case Dictionary(items=tuple(items)):
            return dict(items).get(name, UNKNOWN)
        case Dictionary(item=item):
            return join(item, UNKNOWN)
        case Variable() as variable:
            return variable.then(Step("keyword", name=name))
    return UNKNOWN


def value_of(value: Value) -> Value:
    """What any value of a mapping is."""
    match reading(value):
        case Dictionary(item=item):
            return item
        case Variable() as variable:
            return variable.then(Step("value"))
    return UNKNOWN


def concatenated(left: Sequence, right: Value) -> Sequence:
    """The list `[*left, *right]`."""
    item = join(left.item, item_of(right))
    if left.items is None or not isinstance(right, Sequence):
        return Sequence(item, head=left.beginning)
    whole = left.items + right.beginning
    return Sequence(item, head=whole) if right.items is None else Sequence(item, whole)


def with_item(mapping: Dictionary, key: Value, value: Value) -> Dictionary:
    """A mapping after `mapping[key] = value`."""
    if mapping.items is None or not isinstance(key, Constant):
        return replace(mapping, item=join(mapping.item, value), items=None)
    items = {**dict(mapping.items), key.value: value}
    item = join_all([*items.values(), mapping.default])
    return replace(mapping, item=item, items=tuple(items.items()))


def with_default(mapping: Dictionary, key: Value, *default: Value) -> Dictionary:
    """A mapping after `mapping.setdefault(key, default)`."""
    value = default[0] if default else Constant(None)
    if mapping.items is None or not isinstance(key, Constant):
        return replace(mapping, item=join(mapping.item, value), items=None)
    return mapping if key.value in dict(mapping.items) else with_item(mapping, key, value)


def updated(
    mapping: Dictionary, others: Iterable[Value], keywords: Iterable[tuple[str | None, Value]]
) -> Dictionary:
    """A mapping after `mapping.update(other, key=value)`; no key stands for `**value`."""
    for other in others:
        mapping = _merged(mapping, reading(other))
    for key, value in keywords:
        if key is None:
            mapping = _merged(mapping, reading(value))
        else:
            mapping = with_item(mapping, Constant(key), value)
    return mapping


def _merged(mapping: Dictionary, other: Value) -> Dictionary:
    if not isinstance(other, Dictionary):
        return replace(mapping, item=UNKNOWN, items=None)
    if mapping.items is None or other.items is None:
        return replace(mapping, item=join(mapping.item, other.item), items=None)
    items = {**dict(mapping.items), **dict(other.items)}
    item = join_all([*items.values(), mapping.default])
    return replace(mapping, item=item, items=tuple(items.items()))


def in_containers(function: Callable[[Value], Value], value: Value) -> Value:
    """The value with a function applied to what a container, or one of several objects, is."""
    match value:
        case OneOf(members=members):
            return join_all(map(function, members))
        case Sequence():
            return of_each_item(function, value)
        case Dictionary(item=item, items=items):
            kept = items and tuple((key, function(one)) for key, one in items)
            return replace(value, item=function(item), items=kept)
    return value
