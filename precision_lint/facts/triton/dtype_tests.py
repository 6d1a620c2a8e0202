"""What kernels ask about dtypes: `x.dtype.is_fp16()`, `x.dtype == tl.float16`."""

from __future__ import annotations

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.values import COMPILE_TIME, Constant, TypeRef, Value

_ACCEPTED: dict[str, Dtypes] = {
    "is_fp16": frozenset({"fp16"}),
    "is_bf16": frozenset({"bf16"}),
    "is_fp32": types.FLOAT32,
    "is_fp64": frozenset({"fp64"}),
    **{f"is_{dtype}": frozenset({dtype}) for dtype in types.FLOAT8},
    "is_fp8": types.FLOAT8,
    "is_floating": types.FLOATS,
    "is_standard_floating": types.FLOATS - types.FLOAT8,
    "is_int": types.INTEGERS,
}
TESTS = frozenset(_ACCEPTED)
"""The methods of dtypes that are known."""


def passes(dtype: TypeRef, test: str) -> Value:
    """`dtype.test()`."""
    return _is_one_of(dtype.dtypes, _ACCEPTED[test])


def equal(left: TypeRef, right: TypeRef) -> Value:
    """`left == right`."""
    return _is_one_of(left.dtypes, right.dtypes)


def _is_one_of(dtypes: Dtypes, wanted: Dtypes) -> Value:
    """Whether a dtype is one of `wanted`, where that is certain."""
    if dtypes.isdisjoint(wanted):
        return Constant(False)
    is_certain = dtypes <= wanted and (len(wanted) == 1 or wanted in _ACCEPTED.values())
    return Constant(True) if is_certain else COMPILE_TIME
