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
        case NonTensor(parsed=parsed) as whole:
            return replace(whole, scalar=None, parsed=(*parsed, "*") if parsed else ())
        case Tensor() as whole:
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
    """What the target at a position gets of a value that is unpacked.

    A target after a starred one has a position from the end: -1 is the last one.
    """
    match reading(value):
        case Sequence(items=tuple(items)) if -len(items) <= position < len(items):
            return items[position]
        case Sequence(head=head) if 0 <= position < len(head):
            return head[position]
        case Instance(definition=definition, fields=fields) if definition.is_named_tuple and -len(
            fields
        ) <= position < len(fields):
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


def starred(value: Value, before: int, after: int) -> Value:
    """The list that a starred target gets, with a number of targets before and after it."""
    match reading(value):
        case Sequence(items=tuple(items)) if len(items) >= before + after:
            rest = items[before : len(items) - after]
            return Sequence(join_all(rest), rest)
        case Sequence(item=item, items=None, head=head) if not after:
            return Sequence(item, head=head[before:])
        case Instance(definition=definition, fields=fields) if definition.is_named_tuple:
            rest = tuple(value for _, value in fields[before : len(fields) - after])
            return Sequence(join_all(rest), rest)
        case Variable() as variable:
            return variable.then(Step("starred", position=before, name=str(after)))
        case Bottom() as bottom:
            return bottom
        case read:
            return Sequence(item_of(read))


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


def sliced(held: Sequence, bounds: slice | None) -> Sequence:
    """The list `held[bounds]`; None are bounds that are not known."""
    if bounds is None:
        return Sequence(held.item)
    if held.items is not None:
        kept = held.items[bounds]
        return Sequence(join_all(kept), kept)
    start, stop = bounds.start or 0, bounds.stop
    if start < 0 or bounds.step not in {None, 1}:
        return Sequence(held.item)
    if stop is not None and 0 <= stop <= len(held.head):
        kept = held.head[start:stop]
        return Sequence(join_all(kept), kept)
    # a list is as long as its head at least
    end = len(held.head) if stop is None or stop >= 0 else max(len(held.head) + stop, 0)
    return Sequence(held.item, head=held.head[start:end])


def with_position(held: Sequence, position: int | None, value: Value) -> Sequence:
    """A list after `held[position] = value`; None is a position that is not known."""
    items = held.items
    if position is not None and items is not None and -len(items) <= position < len(items):
        position %= len(items)
        changed = (*items[:position], value, *items[position + 1 :])
        return Sequence(join_all(changed), changed)
    if items is not None:  # one of them, and as many as before
        return Sequence(join(held.item, value), tuple(join(each, value) for each in items))
    if position is not None and position >= 0:
        head = held.head
        if position < len(head):
            head = (*head[:position], value, *head[position + 1 :])
        return Sequence(join(held.item, value), head=head)
    return Sequence(join(held.item, value), head=tuple(join(each, value) for each in held.head))


def with_slice(held: Sequence, bounds: slice | None, value: Value) -> Sequence:
    """A list after `held[bounds] = value`; None are bounds that are not known."""
    if bounds is None or bounds.step not in {None, 1}:
        return Sequence(join(held.item, item_of(value)))
    given = reading(value)
    if held.items is not None and isinstance(given, Sequence) and given.items is not None:
        changed = [*held.items]
        changed[bounds] = given.items
        return Sequence(join_all(changed), tuple(changed))
    start = bounds.start or 0
    kept = held.beginning[:start] if start >= 0 else ()
    if start < 0 and held.items is not None:
        kept = held.items[:start]
    added = given.beginning if isinstance(given, Sequence) and len(kept) == start else ()
    return Sequence(join(held.item, item_of(value)), head=(*kept, *added))


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


def entries_of(held: Sequence | Dictionary) -> Iterable[Value]:
    """What a container says of its entries, of each and of all."""
    if isinstance(held, Sequence):
        return (held.item, *held.beginning)
    return (held.item, *(value for _, value in held.items or ()))


def with_entries(
    held: Sequence | Dictionary, function: Callable[[Value], Value]
) -> Sequence | Dictionary:
    """A container with a function applied to its entries."""
    if isinstance(held, Sequence):
        items = None if held.items is None else tuple(map(function, held.items))
        item = function(held.item) if items is None else join_all(items)
        return Sequence(item, items, tuple(map(function, held.head)))
    if held.items is None:
        return replace(held, item=function(held.item))
    kept = tuple((key, function(value)) for key, value in held.items)
    item = join_all([*(value for _, value in kept), held.default])
    return replace(held, item=item, items=kept)


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
