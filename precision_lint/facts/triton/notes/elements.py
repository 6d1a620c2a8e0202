"""What the elements of a value are."""

from __future__ import annotations

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.values import Constant, Value, is_only

KEEPS_ELEMENTS = frozenset(
    "load cast where reshape view broadcast_to expand_dims trans permute ravel".split()
)
"""The functions that leave each element what it was, or take it from one of several: a trace that
says what elements are does not outlast others."""


def is_half(value: Value | None) -> bool:
    """True for half precision, whichever."""
    return is_only(value, types.HALF)


def is_float32(value: Value | None) -> bool:
    """True for float32 and nothing else."""
    return is_only(value, types.FLOAT32)


def is_integer(value: Value | None) -> bool:
    """True for integers at run time, and those that are known when it is compiled."""
    if isinstance(value, Constant):
        return isinstance(value.value, int)
    return is_only(value, types.INTEGERS)
