"""What is known of each variable at one point of a program, and how assignments change it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.dtypes.sources import INTEGRAL_NAME
from precision_lint.dtypes.values import (
    SOME_TENSOR,
    UNKNOWN,
    Constant,
    Dictionary,
    Foreign,
    Output,
    Sequence,
    Tensor,
    Value,
    item_of,
    join,
    join_all,
)
from precision_lint.source.python_syntax import dotted


class Environment(dict[str, Value]):
    """Values by name; attributes and items are kept under their path, `self.scaler`."""

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        super().__init__(values or {})
        self.paths = set(getattr(values, "paths", ()))
        """The keys that are no plain names: few, beside all the others."""

    def copy(self) -> Environment:
        return Environment(self)

    def become(self, other: Environment) -> None:
        """Take over what is known in another environment."""
        if other is not self:
            self.clear()
            self.update(other)
            self.paths = set(other.paths)


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
        case ast.Starred(value=inner):
            bind(inner, Sequence(value), env)
        case ast.Subscript(value=owner, slice=key):
            path = dotted(owner)
            held = env.get(path) if path else None
            if isinstance(held, Tensor):
                return  # an item takes on the dtype of its tensor
            if isinstance(held, Dictionary | Sequence):
                replace_everywhere(held, _with_item(held, key, value), env)
            _bind_path(dotted(target), value, env)


def _with_item(held: Dictionary | Sequence, key: ast.expr, value: Value) -> Value:
    """A container after `held[key] = value`."""
    position = key.value if isinstance(key, ast.Constant) else None
    match held:
        case Dictionary():
            known = Constant(position) if isinstance(key, ast.Constant) else UNKNOWN
            return held.with_item(known, value)
        case Sequence(items=tuple(items)) if isinstance(position, int) and position < len(items):
            changed = (*items[:position], value, *items[position + 1 :])
            return Sequence(join_all(changed), changed)
    return Sequence(join(held.item, item_of(value) if isinstance(key, ast.Slice) else value))


def replace_everywhere(held: Value, value: Value, env: Environment) -> None:
    """An object changed in place: every name that holds it sees the change."""
    for name in [name for name, other in env.items() if other is held]:
        _forget(name, env)
        env[name] = value


def as_named(name: str, value: Value) -> Value:
    """A value under a name that says more: ids, masks, labels are no floats that a caller chose."""
    match value:
        case Tensor(chosen=True, dtypes=dtypes) | Output(tensor=Tensor(dtypes=dtypes)) if (
            not dtypes
        ):
            return SOME_TENSOR if INTEGRAL_NAME.search(name) else value
    return value


def _bind_path(path: str | None, value: Value, env: Environment) -> None:
    if path is not None:
        _forget(path, env)
        env[path] = value
        env.paths.add(path)


def _unpack(targets: list[ast.expr], value: Value, env: Environment) -> None:
    items = value.items if isinstance(value, Sequence) else None
    if items is not None and len(items) == len(targets):
        for target, item in zip(targets, items, strict=True):
            bind(target, item, env)
        return
    item = item_of(value) if isinstance(value, Sequence | Tensor | Foreign | Output) else UNKNOWN
    for target in targets:
        bind(target, item, env)


def _forget(path: str, env: Environment) -> None:
    """A new object has none of the attributes that were known of the old one."""
    parts = (f"{path}.", f"{path}[")
    for key in [key for key in env.paths if key.startswith(parts)]:
        env.paths.discard(key)
        env.pop(key, None)


def merge(branches: list[Environment], env: Environment) -> bool:
    """Join the branches that reach the end into `env`; False if none does.

    A name that a branch does not know is what the others say: reading it there would have failed.
    A path that one does not know is forgotten: what its owner says holds again.
    """
    if not branches:
        return False
    first, *others = branches
    merged = Environment(first)
    for branch in others:
        for name, value in branch.items():
            held = merged.get(name, value)
            if held is not value or name not in merged:
                merged[name] = join(held, value)
        merged.paths |= branch.paths
    if others:
        for path in [path for path in merged.paths if any(path not in each for each in branches)]:
            merged.paths.discard(path)
            merged.pop(path, None)
    env.become(merged)
    return True
