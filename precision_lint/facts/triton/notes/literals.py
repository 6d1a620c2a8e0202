"""What Triton makes of a number beside half precision: it is converted before it is used."""

from __future__ import annotations

from typing import TypeGuard

from precision_lint.facts.triton.dtypes import HALF, Dtypes

_INFINITE_FROM = {"fp16": 65520.0, "bf16": 2.0**128 - 2.0**119}
_ZERO_UNTIL = {"fp16": 2.0**-25, "bf16": 5e-7}
"""The front end hands numbers over to bfloat16 with six decimals."""


def overflows(number: object, dtypes: Dtypes) -> bool:
    """True if a finite number is infinity in these dtypes of half precision."""
    return _is_beside_half(number, dtypes) and all(
        _INFINITE_FROM[dtype] <= abs(number) < float("inf") for dtype in dtypes
    )


def vanishes(number: object, dtypes: Dtypes) -> bool:
    """True if a number is zero in these dtypes of half precision, and should not be."""
    return _is_beside_half(number, dtypes) and all(
        0 < abs(number) <= _ZERO_UNTIL[dtype] for dtype in dtypes
    )


def _is_beside_half(number: object, dtypes: Dtypes) -> TypeGuard[int | float]:
    return isinstance(number, int | float) and bool(dtypes) and dtypes <= HALF
