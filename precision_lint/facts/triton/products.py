"""What `tl.dot` makes of its operands and of an accumulator, and which it refuses."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.language import Language, Version, dtype_of
from precision_lint.facts.triton.transfer import Transfer, table
from precision_lint.facts.triton.values import (
    NONE,
    UNKNOWN,
    Arguments,
    Tensor,
    TypeRef,
    Value,
    derived,
)

_FREE_ACCUMULATOR: Version = (3, 4)
"""Since then an accumulator must be what `out_dtype` says; before, what the operands allow."""
_DEFAULT_OUT_DTYPE: Version = (3, 8)
"""Since then that is the accumulator's own dtype by default; before, float32."""
_NO_MATRIX: Dtypes = types.INTEGERS - {"int1", "int8", "uint8"}


def _dot(arguments: Arguments, language: Language) -> Value:
    """`tl.dot(input, other, acc, out_dtype=...)`."""
    left, right = arguments.get(0, "input"), arguments.get(1, "other")
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        return UNKNOWN
    language.usage.pin(left, right)
    if not _can_be_multiplied(left.dtypes, right.dtypes):
        nodes = arguments.node(0, "input"), arguments.node(1, "other")
        language.refusals.add("dot", "dot", left, right, start=nodes[0], given=nodes[1])
    accumulator = arguments.get(2, "acc") or NONE
    out = _out_dtype(arguments.keywords.get("out_dtype", NONE), accumulator, language)
    found = frozenset[str]().union(*(_product(dtype, out) for dtype in left.dtypes))
    if left.dtypes <= types.FLOATS:
        needed = out if language.version >= _FREE_ACCUMULATOR else found
        if out == {"bf16"} and (node := arguments.nodes.get("out_dtype")) is not None:
            language.refusals.add("dot", "out_dtype", after=TypeRef(out), given=node)
        elif isinstance(accumulator, Tensor) and (
            out == {"bf16"} or accumulator.dtypes.isdisjoint(needed)
        ):
            wanted = Tensor(types.FLOAT32 if out == {"bf16"} else needed, left.rank)
            node = arguments.node(2, "acc")
            language.refusals.add("dot", "acc", wanted, accumulator, given=node)
    if not isinstance(accumulator, Tensor) and accumulator != NONE:
        return UNKNOWN
    product = derived(found, left.rank, left, right)
    return replace(product, loads=frozenset()) if isinstance(product, Tensor) else UNKNOWN


def _can_be_multiplied(left: Dtypes, right: Dtypes) -> bool:
    """False if `tl.dot` certainly refuses its operands: of one dtype, or both fp8."""
    return bool((left & right) - _NO_MATRIX) or bool(left & types.FLOAT8 and right & types.FLOAT8)


def _out_dtype(given: Value, accumulator: Value, language: Language) -> Dtypes:
    if given != NONE:
        return dtype_of(given)
    if isinstance(accumulator, Tensor) and language.version >= _DEFAULT_OUT_DTYPE:
        return accumulator.dtypes
    return types.FLOAT32


def _product(dtype: str, out: Dtypes) -> Dtypes:
    """What the product of two matrices is."""
    if dtype in types.INTEGERS:
        return types.INT32
    if dtype == "fp16" or dtype in types.FLOAT8:
        return out
    return frozenset({dtype}) if dtype == "fp64" else types.FLOAT32


def _dot_scaled(arguments: Arguments, language: Language) -> Value:
    """`tl.dot_scaled(...)`, whose operands are packed in formats of their own."""
    language.usage.pin(*arguments.positional, *arguments.keywords.values())
    wanted = arguments.keywords.get("out_dtype", NONE)
    return Tensor(types.FLOAT32 if wanted == NONE else dtype_of(wanted))


TRANSFERS: dict[str, Transfer] = {
    **table("dot", _dot),
    **table("dot_scaled", _dot_scaled),
}
