"""Modules that may be the same object, or parts of one: a cast in place changes all of them.

The kin of a module are the calls that made it, and those that made its parts. Two modules whose
kin have a call in common may share parameters. When one of them is cast, the dtype of the other is
no longer known, unless the two are known to be the same object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from precision_lint.facts.dtypes.domain.containers import in_containers
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import join_tensors
from precision_lint.facts.dtypes.domain.values import (
    Dictionary,
    Instance,
    Model,
    OneOf,
    Sequence,
    Site,
    Tensor,
    Value,
)
from precision_lint.model.dtypes import HALF

_ANY = Tensor(may_be_other=True)


def kin_of(value: Value) -> frozenset[Site]:
    """The kin of a module, or of all that are in an object or a container."""
    match value:
        case Model(kin=kin, members=members):
            return kin.union(*map(kin_of, members))
        case Instance(kin=kin, fields=fields):
            return kin.union(*(kin_of(part) for _, part in fields))
        case OneOf(members=members):
            return frozenset().union(*map(kin_of, members))
        case Sequence(item=item) | Dictionary(item=item):
            return kin_of(item)
    return frozenset()


def related(value: Value, kin: frozenset[Site]) -> Value:
    """A module that has something to do with others."""
    if isinstance(value, Model | Instance) and not kin <= value.kin:
        return replace(value, kin=value.kin | kin)
    return value


def forget_kin(kin: frozenset[Site], known: Iterable[Value], env: Environment) -> None:
    """Modules of some kin may have been cast, all but those that are `known`."""
    exact = {id(each) for each in known}
    for name, value in [*env.items()]:
        if not kin.isdisjoint(kin_of(value)):
            env[name] = _forgotten(value, kin, exact)


def _forgotten(value: Value, kin: frozenset[Site], exact: Collection[int]) -> Value:
    if id(value) in exact or kin.isdisjoint(kin_of(value)):
        return value
    match value:
        case Model(parameters=parameters):
            # What was cast to half precision may be another part: float32 is no evidence then.
            is_half = bool(parameters.dtypes & HALF)
            return replace(value, parameters=join_tensors(parameters, _ANY) if is_half else _ANY)
        case Instance(fields=fields):
            kept = tuple((name, _forgotten(part, kin, exact)) for name, part in fields)
            return replace(value, fields=kept, parameters=None)
    return in_containers(lambda one: _forgotten(one, kin, exact), value)


def recast(before: Value, after: Value) -> Iterator[tuple[Value, Value]]:
    """The modules in an object before it was cast, and what became of each."""
    if isinstance(before, Instance) and isinstance(after, Instance):
        became = dict(after.fields)
        for name, part in before.fields:
            if isinstance(part, Model | Instance) and became.get(name, part) is not part:
                yield part, became[name]
                yield from recast(part, became[name])


def made(value: Instance, given: frozenset[Site], kin: frozenset[Site]) -> Instance:
    """An object that a call makes: the modules in it are its own, but for those that it is given.

    Two calls of a class make two objects, although they are worked out once.
    """
    copies: dict[int, Value] = {}

    def own(part: Value) -> Value:
        if not isinstance(part, Model | Instance) or not given.isdisjoint(kin_of(part)):
            return part
        return copies.setdefault(id(part), copied(part, kin))

    return replace(value, fields=tuple((name, own(part)) for name, part in value.fields))


def copied(value: Value, kin: frozenset[Site]) -> Value:
    """A copy of an object: it shares nothing with the object."""
    match value:
        case Model(members=members):
            parts = (copied(one, kin) for one in members)
            modules = tuple(one for one in parts if isinstance(one, Model | Instance))
            return replace(value, kin=kin, members=modules)
        case Instance(fields=fields):
            own = tuple((name, copied(part, kin)) for name, part in fields)
            return replace(value, kin=kin, fields=own)
    return in_containers(lambda one: copied(one, kin), value)
