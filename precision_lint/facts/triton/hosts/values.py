"""What an expression of host code can be: what a kernel takes, or something of an open dtype."""

from __future__ import annotations

from collections.abc import Iterable

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.values import (
    NONE,
    UNKNOWN,
    Constant,
    Pointer,
    Tensor,
    TypeRef,
    Value,
    join,
)
from precision_lint.model.frozen import frozen


@frozen
class Open:
    """A tensor, or its dtype, that somebody else chooses; `names` tell who: parameters, variables.

    Two tensors of the same names have the same dtype.
    """

    names: frozenset[str] = frozenset()
    or_wide: bool = False
    """The same code makes it float32 under another condition: whoever wants to, accumulates so."""


@frozen
class Several:
    """A tuple or a list of known length."""

    values: tuple[HostValue, ...]


@frozen
class OneOf:
    """What is saved for a backward pass: of several tuples, the one of the length that is read."""

    options: tuple[Several, ...]


HostValue = Value | Open | Several | OneOf

_OF_HOST = (Open, Several, OneOf)

ANYTHING = Open()
"""Of a dtype that nothing tells."""


def named(value: HostValue, name: str) -> HostValue:
    """The value; what is not known at all is known by its name from here on."""
    match value:
        case Open(names=names, or_wide=or_wide) if not names:
            return Open(frozenset({name}), or_wide)
    return Open(frozenset({name})) if value == UNKNOWN else value


def joined(values: Iterable[HostValue]) -> HostValue:
    """One of several; an optional tensor is taken for the tensor."""
    several = [*values]
    several = [value for value in several if value != NONE] or several
    if not several:
        return UNKNOWN
    found = several[0]
    for value in several[1:]:
        if value != found:
            found = _either(found, value)
    return found


def _either(left: HostValue, right: HostValue) -> HostValue:
    match left, right:
        case Several(values=mine), Several(values=others) if len(mine) == len(others):
            return Several(tuple(joined(pair) for pair in zip(mine, others, strict=True)))
        case Open(names=mine), Open(names=others):
            names = mine | others if mine and others else frozenset[str]()
            return Open(names, left.or_wide or right.or_wide)
        case (Open() as one, Pointer() | TypeRef() as other) | (
            Pointer() | TypeRef() as other,
            Open() as one,
        ):
            return Open(one.names, one.or_wide or (elements(other) or types.ANY) <= types.WIDE)
    if isinstance(left, _OF_HOST) or isinstance(right, _OF_HOST):
        return UNKNOWN
    return join(_at_run_time(left), _at_run_time(right))


def _at_run_time(value: Value) -> Value:
    """An argument that is specialised in one launch is a run-time value in another."""
    return Tensor(types.INDEX, 0) if value == Constant(1) else value


def elements(value: HostValue) -> Dtypes | None:
    """The dtypes that a tensor or a dtype can be; None if they are not known."""
    match value:
        case Pointer(elements=dtypes) | TypeRef(dtypes=dtypes):
            return dtypes
    return None


def computed(values: Iterable[HostValue]) -> HostValue:
    """What torch makes of tensors and numbers: the widest float wins, whatever is open."""
    tensors = [value for value in values if isinstance(value, Pointer | Open)]
    if not tensors:
        return UNKNOWN
    known = [value.elements for value in tensors if isinstance(value, Pointer)]
    floats = [dtypes for dtypes in known if dtypes <= types.FLOATS]
    for wide in ("fp64", "fp32"):
        # A tensor of an open dtype beside float32 is float32, or float64 at most.
        if frozenset({wide}) in floats:
            return Pointer(frozenset({wide}))
    if len(known) == len(tensors):
        alike = set(floats or known)
        return Pointer(alike.pop()) if len(alike) == 1 else ANYTHING
    return joined(value for value in tensors if isinstance(value, Open))
