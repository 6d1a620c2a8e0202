"""Functions that reshape, rearrange, join and split blocks, and leave the elements alone."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.triton.language import Language
from precision_lint.facts.triton.transfer import Transfer, same, table
from precision_lint.facts.triton.values import (
    UNKNOWN,
    Arguments,
    Constant,
    Items,
    Pointer,
    Tensor,
    Value,
    broadcast,
    derived,
)


def rank_of_shape(value: Value | None) -> int | None:
    """The rank of a block of this shape, if it is written out."""
    return len(value.values) if isinstance(value, Items) else None


def _reshaped(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "input")
    if not isinstance(value, Tensor | Pointer):
        return UNKNOWN
    shape = arguments.get(1, "shape")
    if isinstance(shape, Constant):  # tl.view(x, 4, 16)
        shape = Items(arguments.positional[1:])
    return replace(value, rank=rank_of_shape(shape))


def _ranked(change: int) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        value = arguments.get(0, "input")
        if not isinstance(value, Tensor | Pointer):
            return UNKNOWN
        known = value.rank is not None and isinstance(arguments.get(1, "axis"), Constant | None)
        return replace(value, rank=(value.rank or 0) + change if known else None)

    return transfer


def _flattened(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "x")
    return replace(value, rank=1) if isinstance(value, Tensor | Pointer) else UNKNOWN


def _split(arguments: Arguments, language: Language) -> Value:
    value = _ranked(-1)(arguments, language)
    return Items((value, value))


def _together(change: int) -> Transfer:
    """`tl.join`, `tl.cat`: two tensors become one."""

    def transfer(arguments: Arguments, language: Language) -> Value:
        left, right = arguments.get(0, "a"), arguments.get(1, "b")
        if not isinstance(left, Tensor) or not isinstance(right, Tensor):
            return UNKNOWN
        rank = None if left.rank is None else left.rank + change
        return derived(left.dtypes | right.dtypes, rank, left, right)

    return transfer


def _broadcast(arguments: Arguments, language: Language) -> Value:
    left, right = arguments.get(0, "input"), arguments.get(1, "other")
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        return UNKNOWN
    rank = broadcast(left, right)
    return Items((replace(left, rank=rank), replace(right, rank=rank)))


TRANSFERS: dict[str, Transfer] = {
    **table("flip sort trans permute gather", same),
    **table("reshape view broadcast_to", _reshaped),
    **table("expand_dims unsqueeze", _ranked(1)),
    **table("squeeze", _ranked(-1)),
    **table("ravel", _flattened),
    **table("split", _split),
    **table("join", _together(1)),
    **table("cat interleave", _together(0)),
    **table("broadcast", _broadcast),
}
