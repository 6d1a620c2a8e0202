"""Conversions: to another dtype, of a dtype to a pointer's, to a compile-time value."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.language import Language, as_tensor, dtype_of
from precision_lint.facts.triton.transfer import Transfer, table
from precision_lint.facts.triton.values import (
    NUMBER_NOT_KNOWN,
    UNKNOWN,
    Arguments,
    Constant,
    Pointer,
    Provenance,
    Tensor,
    TypeRef,
    Unknown,
    Value,
    broadcast,
    derived,
)


def _cast(arguments: Arguments, language: Language) -> Value:
    """`x.to(dtype)` and `tl.cast(x, dtype)`."""
    value = as_tensor(arguments.get(0, "input") or UNKNOWN)
    dtype = arguments.get(1, "dtype")
    found = dtype_of(dtype)
    match value, dtype:
        case Pointer(), TypeRef(is_pointer=True):
            return replace(value, elements=dtype.dtypes)
        case Pointer(), _:
            return Tensor(found & types.INTEGERS or found, value.rank)
        case _, TypeRef(is_pointer=True):
            return Pointer(dtype.dtypes, broadcast(value))
        case Tensor(), _:
            is_bitcast = arguments.get(2, "bitcast") or arguments.get(3, "bitcast")
            if is_bitcast is not None and is_bitcast != Constant(False):
                language.usage.pin(value)
            if arguments.keywords.get("bitcast") == Constant(True):
                if _widths(value.dtypes).isdisjoint(_widths(found)):
                    language.refusals.add("bitcast", "", value, Tensor(found, value.rank))
                return Tensor(found, value.rank, has_many=value.has_many)
            if found <= types.INTEGERS:
                # What is converted to an index need not have been an integer: no trace of it.
                language.usage.truncate(value)
                return Tensor(found, value.rank, has_many=value.has_many)
            return derived(found, value.rank, replace(value, loads=frozenset()))
        case Unknown(elements=elements), _:
            return Tensor(found, provenance=Provenance(elements=elements))
    return Tensor(found, broadcast(value))


def _widths(dtypes: Dtypes) -> set[int]:
    return set(map(types.width, dtypes))


def _pointer_type(arguments: Arguments, language: Language) -> Value:
    return TypeRef(dtype_of(arguments.get(0, "element_ty")), is_pointer=True)


def _compile_time(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "value")
    return value if isinstance(value, Constant | TypeRef) else NUMBER_NOT_KNOWN


TRANSFERS: dict[str, Transfer] = {
    **table("cast", _cast),
    **table("pointer_type", _pointer_type),
    **table("constexpr", _compile_time),
}
