"""Triton's dtypes and the dtype of an operation on two of them.

Types are sets: what an expression *can* be over all compile-time choices. Two values certainly
differ if their sets are disjoint, so a finding is a proof and doubt only silences.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from precision_lint.model.regex import regex

Dtypes = frozenset[str]

_DIGITS = regex(r"\d+")
_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("int1", "uint8", "uint16", "uint32", "uint64")
_FLOAT8S = ("fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16")

INTEGERS: Dtypes = frozenset({*_SIGNED, *_UNSIGNED})
FLOATS: Dtypes = frozenset({*_FLOAT8S, "fp16", "bf16", "fp32", "fp64"})
FLOAT8: Dtypes = frozenset(_FLOAT8S)
ANY: Dtypes = INTEGERS | FLOATS
HALF: Dtypes = frozenset({"fp16", "bf16"})
NARROW: Dtypes = HALF | FLOAT8
WIDE: Dtypes = frozenset({"fp32", "fp64"})
"""What `tl.exp` and its like accept."""

BOOL: Dtypes = frozenset({"int1"})
INT32: Dtypes = frozenset({"int32"})
FLOAT32: Dtypes = frozenset({"fp32"})
INDEX: Dtypes = frozenset({"int32", "int64"})
"""A run-time integer argument: its width depends on its value."""
NUMBER: Dtypes = INDEX | FLOAT32
"""A run-time argument that nothing shows to be an integer or a float."""

BY_NAME: dict[str, str] = {
    **{name: name for name in (*_SIGNED, *_UNSIGNED)},
    **{name.replace("fp8", "float8"): name for name in _FLOAT8S},
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
}
"""The names in `triton.language`."""

BY_ANNOTATION: dict[str, str] = {
    **BY_NAME,
    **{dtype: dtype for dtype in FLOATS},
    **{f"i{bits}": f"int{bits}" for bits in (1, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "u1": "int1",
    "bool": "int1",
    "int": "int32",
    "float": "fp32",
}
"""What a parameter's annotation can say besides."""


class _Kind(IntEnum):
    BOOL = 0
    INTEGER = 1
    FLOAT = 2


def _kind(dtype: str) -> _Kind:
    if dtype == "int1":
        return _Kind.BOOL
    return _Kind.INTEGER if dtype in INTEGERS else _Kind.FLOAT


def width(dtype: str) -> int:
    """Bits of one element."""
    return int(_DIGITS.findall(dtype)[0])


def promote(left: str, right: str, division: bool = False) -> str | None:
    """The dtype of `left op right` for two run-time operands; None if Triton rejects it."""
    pair = {left, right}
    if "fp64" in pair:
        return "fp64"
    if division and pair & FLOATS:
        return "fp32"
    if "fp32" in pair:
        return "fp32"
    if "fp16" in pair:
        return "fp16"
    if "bf16" in pair:
        return "bf16" if pair == {"bf16"} else "fp32"
    if pair <= FLOATS:
        return left if left == right else "fp16"
    return _promote_integers(left, right) if pair <= INTEGERS else None


def _promote_integers(left: str, right: str) -> str:
    if (left in _UNSIGNED) == (right in _UNSIGNED):
        return left if width(left) > width(right) else right
    unsigned, signed = (left, right) if left in _UNSIGNED else (right, left)
    return unsigned if width(unsigned) >= width(signed) else signed


@lru_cache(maxsize=4096)
def combine(left: Dtypes, right: Dtypes, division: bool = False) -> Dtypes:
    """What `left op right` can be for two run-time operands; empty if Triton rejects it."""
    return frozenset(filter(None, (promote(a, b, division) for a in left for b in right)))


@lru_cache(maxsize=4096)
def combine_with_number(dtypes: Dtypes, number: Dtypes, division: bool = False) -> Dtypes:
    """What a run-time operand and a compile-time number give.

    The number takes part only if it is of a higher kind: bool < integer < float.
    """
    pairs = ((d, d if _kind(n) <= _kind(d) else n) for d in dtypes for n in number)
    return frozenset(filter(None, (promote(d, n, division) for d, n in pairs)))


def true_division(dtypes: Dtypes) -> Dtypes:
    """The dtypes of `/`, given those of its promoted operands."""
    return frozenset("fp32" if dtype in INTEGERS else dtype for dtype in dtypes)


def widened(dtypes: Dtypes, narrow: Dtypes = NARROW) -> Dtypes:
    """`dtypes` with those in `narrow` replaced by fp32."""
    return frozenset("fp32" if dtype in narrow else dtype for dtype in dtypes)


def at_least_32_bits(dtypes: Dtypes) -> Dtypes:
    """What `tl.max` computes in."""
    return frozenset(
        dtype if width(dtype) >= 32 else "int32" if dtype in INTEGERS else "fp32"
        for dtype in dtypes
    )


def of_number(value: object) -> Dtypes:
    """The dtype that a Python number gets when a variable is assigned from it."""
    match value:
        case bool():
            return BOOL
        case int():
            for dtype, low, high in (
                ("int32", -(2**31), 2**31),
                ("uint32", 2**31, 2**32),
                ("int64", -(2**63), 2**63),
            ):
                if low <= value < high:
                    return frozenset({dtype})
            return frozenset({"uint64"})
        case float():
            magnitude = abs(value)
            is_fp32 = magnitude == 0.0 or not 0 < magnitude < float("inf")
            is_fp32 = is_fp32 or 2**-126 <= magnitude <= (2 - 2**-23) * 2**127
            return FLOAT32 if is_fp32 else frozenset({"fp64"})
    return frozenset()
