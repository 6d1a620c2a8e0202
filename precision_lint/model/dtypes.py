"""The names of torch's dtypes."""

from __future__ import annotations

from collections.abc import Mapping


class DtypeName(str):
    """`torch.bfloat16` where code says so: an object of torch, and not that text."""

    __slots__ = ()


BFLOAT16 = "bfloat16"
FLOAT16 = "float16"
FLOAT32 = "float32"
INT64 = "int64"
BOOL = "bool"

FLOAT8 = frozenset(
    {"float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"}
)
FLOATING = frozenset({BFLOAT16, FLOAT16, FLOAT32, "float64"}) | FLOAT8
HALF = frozenset({BFLOAT16, FLOAT16}) | FLOAT8
DTYPES = (
    FLOATING
    | frozenset({BOOL, INT64, "int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"})
    | frozenset({"complex32", "complex64", "complex128"})
)
ALIASES: Mapping[str, str] = {
    "half": FLOAT16,
    "float": FLOAT32,
    "double": "float64",
    "long": INT64,
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
    **{name: name for name in DTYPES},
}
"""Attributes of `torch` that are dtypes."""
