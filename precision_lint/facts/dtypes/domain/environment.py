"""What is known of each variable at one point of a program, and how assignments change it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from precision_lint.facts.dtypes.domain.containers import (
    entries_of,
    starred,
    unpacked,
    with_entries,
    with_item,
    with_position,
    with_slice,
)
from precision_lint.facts.dtypes.domain.indexes import bounds_of, integer
from precision_lint.facts.dtypes.domain.lattice import by_facet, join, reading
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    Constant,
    Dictionary,
    Instance,
    Mixed,
    Model,
    ModelOutput,
    OneOf,
    Sequence,
    Tensor,
    Value,
    caller_chosen,
)
from precision_lint.facts.dtypes.syntax.sources import INTEGRAL_NAME
from precision_lint.source.python.syntax import dotted


class Environment(dict[str, Value]):
    """Values by name; attributes and items are kept under their path, `self.scaler`."""

    __slots__ = ("paths",)

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        super().__init__(values or {})
        self.paths: set[str] = set(getattr(values, "paths", ()))
        """The keys that are no plain names: few, beside all the others."""

    def copy(self) -> Environment:
        copied = Environment.__new__(Environment)
        copied.update(self)
        copied.paths = self.paths.copy()
        return copied

    def below(self, owner: str | None) -> list[Value]:
        """What is kept of the attributes of an object, by its path."""
        return [self[path] for path in sorted(self.paths) if path.startswith(f"{owner}.")]

    def replace_with(self, other: Environment) -> None:
        """Take over what is known in another environment."""
        if other is not self:
            self.clear()
            self.update(other)
            self.paths = set(other.paths)


def path_of(node: ast.expr) -> str | None:
    """The path of a chain of names and keys, and of an item whose key is a variable: `w[name]`."""
    match node:
        case ast.Subscript(value=owner, slice=ast.Name(id=key)):
            path = dotted(owner)
            return None if path is None else f"{path}[{key}]"
    return dotted(node)


def bind(target: ast.expr, value: Value, env: Environment) -> None:
    """Assign a value to a target: names, attributes, tuples, stars, items of a dict."""
    match target:
        case ast.Name(id=name):
            _forget(name, env)
            env[name] = as_named(name, value)
        case ast.Attribute():
            _bind_path(dotted(target), value, env)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(targets, value, env)
        case ast.Subscript(value=owner, slice=key):
            path = dotted(owner)
            held = env.get(path) if path else None
            if isinstance(held, Tensor):
                return  # an item takes on the dtype of its tensor
            if isinstance(held, Dictionary | Sequence):
                replace_everywhere(held, with_assigned(held, key, value, env), env)
            elif isinstance(held, Model) and held.members:  # another layer in a Sequential
                vague = replace(held, parameters=caller_chosen(), members=())
                replace_everywhere(held, vague, env)
            if path is not None:
                _forget_items(path, env)
            _bind_path(path_of(target), value, env)


def with_assigned(
    held: Dictionary | Sequence, key: ast.expr, value: Value, env: Environment
) -> Value:
    """A container after `held[key] = value`."""
    if isinstance(held, Dictionary):
        return with_item(held, _key(key, env), value)
    if isinstance(key, ast.Slice):
        return with_slice(held, bounds_of(key), value)
    return with_position(held, integer(key), value)


def _key(key: ast.expr, env: Environment) -> Value:
    """The key of an item: a literal, or the value of a variable that is known."""
    match key:
        case ast.Constant(value=value):
            return Constant(value)
        case ast.Name(id=name) if isinstance(known := env.get(name), Constant):
            return known
    return UNKNOWN


def replace_everywhere(held: Value, value: Value, env: Environment) -> None:
    """An object changed in place: every name and every attribute that holds it sees the change.

    Of two names of which nothing is known, nothing says that they hold the same.
    """
    if held is UNKNOWN:
        return
    for name in [name for name, other in env.items() if other is held]:
        _forget(name, env)
        env[name] = value
    for name, other in [*env.items()]:
        if isinstance(other, Instance) and other.fields and other is not value:
            env[name] = _after_change(other, held, value)
    if isinstance(held, Sequence | Dictionary):
        _change_entries(held, value, env)


def _change_entries(held: Value, value: Value, env: Environment) -> None:
    """A list or a mapping changed that is an entry of others: `d.setdefault(key, []).append(x)`.

    Other entries may look like it, so each may be as it was. The object stays the one that the
    container holds: it may be changed once more.
    """
    holders = {
        id(other): other
        for other in env.values()
        if isinstance(other, Sequence | Dictionary) and other is not value
        if any(one is held for one in entries_of(other))
    }
    if not holders:
        return
    now = join(held, value)
    changed = {
        each: with_entries(other, lambda one: now if one is held else one)
        for each, other in holders.items()
    }
    for name, other in [*env.items()]:
        env[name] = now if other is value else changed.get(id(other), other)


def _after_change(owner: Instance, held: Value, value: Value) -> Instance:
    """An object that may hold another one, after that was changed in place.

    A module that looks like the changed one may be the same, handed on in other calls.
    """
    changed: list[tuple[str, Value]] = []
    for name, attribute in owner.fields:
        now = attribute
        if attribute is held:
            now = value
        elif isinstance(attribute, Model) and attribute == held:
            now = join(attribute, value)
        elif isinstance(attribute, Instance) and attribute.fields:
            now = _after_change(attribute, held, value)
        changed.append((name, now))
    is_same = all(
        now is before for (_, now), (_, before) in zip(changed, owner.fields, strict=True)
    )
    return owner if is_same else replace(owner, fields=tuple(changed))


def as_named(name: str, value: Value) -> Value:
    """A value under a name that says more: ids, masks, labels are no floats that a caller chose.

    Whose dtype is that of a parameter keeps it: the caller shows what it passes.
    """
    match value:
        case Tensor(caller_chosen=True) if INTEGRAL_NAME.search(name):
            return replace(value, caller_chosen=False, may_be_other=True)
        case ModelOutput(tensor=Tensor(caller_chosen=True) as tensor) if INTEGRAL_NAME.search(name):
            return ModelOutput(replace(tensor, caller_chosen=False, may_be_other=True))
        case Mixed() if INTEGRAL_NAME.search(name):
            return by_facet(partial(as_named, name), value)
    return value


def _bind_path(path: str | None, value: Value, env: Environment) -> None:
    if path is not None:
        _forget(path, env)
        env[path] = value
        env.paths.add(path)


def _unpack(targets: list[ast.expr], value: Value, env: Environment) -> None:
    value = reading(value)
    star = next((at for at, one in enumerate(targets) if isinstance(one, ast.Starred)), None)
    for position, target in enumerate(targets):
        after = len(targets) - 1 - position
        if isinstance(target, ast.Starred):
            bind(target.value, starred(value, position, after), env)
        else:
            is_after = star is not None and position > star
            bind(target, unpacked(value, -1 - after if is_after else position), env)


def _forget(path: str, env: Environment) -> None:
    """A new object has none of the attributes that were known of the old one.

    Nor is an item that has it as its key the one that it was.
    """
    parts, as_key = (f"{path}.", f"{path}["), f"[{path}]"
    _drop([key for key in env.paths if key.startswith(parts) or as_key in key], env)


def _forget_items(path: str, env: Environment) -> None:
    """One item was assigned: which of those whose keys are variables it was is not known."""
    item = re.compile(rf"{re.escape(path)}\[[^\W\d]\w*\]")
    _drop([key for key in env.paths if item.match(key)], env)


def _drop(paths: list[str], env: Environment) -> None:
    for path in paths:
        env.paths.discard(path)
        env.pop(path, None)


def join_into(branches: list[Environment], env: Environment) -> bool:
    """Join the branches that reach the end into `env`; False if none does.

    A name bound in only some branches keeps the join of those: elsewhere reading it raises. A path
    bound in only some is forgotten: what its owner says of it holds again. Two names hold the same
    object afterwards if they do in every branch.
    """
    if not branches:
        return False
    first, *others = branches
    if not others:
        env.replace_with(first)
        return True
    merged = first.copy()
    for branch in others:
        joined: dict[tuple[int, int], tuple[Value, Value, Value]] = {}
        for name, value in branch.items():
            held = merged.get(name)
            if held is None:
                merged[name] = value
            elif held is not value:
                key = id(held), id(value)
                if key not in joined:
                    joined[key] = held, value, _new(join(held, value), held, value)
                merged[name] = joined[key][-1]
        merged.paths |= branch.paths
    for path in [path for path in merged.paths if any(path not in each for each in branches)]:
        merged.paths.discard(path)
        merged.pop(path, None)
    env.replace_with(merged)
    return True


def _new(joined: Value, *objects: Value) -> Value:
    """A join as an object of its own, if names that hold the same one can be told from others."""
    is_held = any(joined is each for each in objects)
    return replace(joined) if is_held and isinstance(joined, _CHANGEABLE) else joined


_CHANGEABLE = (Tensor, Sequence, Dictionary, Model, Instance, OneOf)
"""What a program changes in place: every name that holds the object sees it."""
