"""Reductions and scans along an axis, and what they compute in, which differs by version."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.language import Language, Version, dtype_of
from precision_lint.facts.triton.transfer import Transfer, same, table
from precision_lint.facts.triton.values import (
    NONE,
    UNKNOWN,
    Arguments,
    Constant,
    Items,
    Tensor,
    Value,
    derived,
)


def _reduced(value: Tensor, arguments: Arguments, dtypes: Dtypes, keep_position: int = 2) -> Value:
    """`value` reduced along `axis`: a scalar if there is none."""
    axis = arguments.get(1, "axis") or NONE
    keep = arguments.get(keep_position, "keep_dims") or Constant(False)
    rank: int | None = None
    match axis, keep:
        case Constant(value=None), Constant(value=False):
            rank = 0
        case Constant(), Constant(value=False) if value.rank:
            rank = value.rank - 1
        case _, Constant(value=True):
            rank = value.rank
    found = derived(dtypes, rank, value)
    # The axis that is left may have one element.
    return replace(found, has_many=False) if isinstance(found, Tensor) else found


def _sum(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "input")
    if not isinstance(value, Tensor):
        return UNKNOWN
    if (dtype := arguments.get(3, "dtype")) is not None and dtype != NONE:
        return _reduced(replace(value, loads=frozenset()), arguments, dtype_of(dtype))
    _refuse_float8("sum", value, arguments, language)
    return _reduced(value, arguments, _accumulated(value.dtypes, language, (3, 3)))


def _scan(name: str) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        value = arguments.get(0, "input")
        if not isinstance(value, Tensor):
            return UNKNOWN
        if (dtype := arguments.keywords.get("dtype", NONE)) != NONE:
            return Tensor(dtype_of(dtype), value.rank)
        _refuse_float8(name, value, arguments, language)
        return derived(_accumulated(value.dtypes, language, (3, 9)), value.rank, value)

    return transfer


def _accumulated(dtypes: Dtypes, language: Language, since: Version) -> Dtypes:
    """What sums and scans compute in: at least 32 bits for integers; bf16 as it is, `since`."""
    if language.version < since:
        return types.widened(dtypes, frozenset({"bf16"}))
    narrow = {"int1": "uint32", "uint8": "uint32", "uint16": "uint32"}
    narrow |= {"int8": "int32", "int16": "int32"}
    return frozenset(narrow.get(dtype, dtype) for dtype in dtypes)


def _refuse_float8(name: str, value: Tensor, arguments: Arguments, language: Language) -> None:
    """What adds in the dtype of its operand has no float8."""
    if value.dtypes and value.dtypes <= types.FLOAT8:
        node = arguments.node(0, "input")
        language.refusals.add("float8", name, after=value, given=node)


def _maximum_along(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "input")
    if not isinstance(value, Tensor):
        return UNKNOWN
    match arguments.get(2, "return_indices"):
        case None | Constant(value=False):
            return _reduced(value, arguments, types.at_least_32_bits(value.dtypes), 4)
        case Constant(value=True):
            found = _reduced(value, arguments, value.dtypes, 4)
            index = _reduced(Tensor(types.INT32, value.rank), arguments, types.INT32, 4)
            return Items((language.halves_promote(found, (3, 9)), index))
    return UNKNOWN


def _index_along(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "input")
    if not isinstance(value, Tensor):
        return UNKNOWN
    return _reduced(Tensor(types.INT32, value.rank), arguments, types.INT32, 3)


def _reduce(arguments: Arguments, language: Language) -> Value:
    match arguments.get(0, "input"):
        case Tensor() as value:
            return _reduced(value, arguments, value.dtypes, 3)
        case Items(values=values):
            return Items(
                tuple(
                    _reduced(value, arguments, value.dtypes, 3)
                    if isinstance(value, Tensor)
                    else UNKNOWN
                    for value in values
                )
            )
    return UNKNOWN


def _softmax(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "x")
    if not isinstance(value, Tensor):
        return UNKNOWN
    return derived(types.widened(value.dtypes) & types.WIDE, value.rank, value)


def _topk(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "x")
    if not isinstance(value, Tensor):
        return UNKNOWN
    return derived(value.dtypes | types.at_least_32_bits(value.dtypes), value.rank, value)


def _histogram(arguments: Arguments, language: Language) -> Value:
    return Tensor(types.INT32, 1)


TRANSFERS: dict[str, Transfer] = {
    **table("sum", _sum),
    **{name: _scan(name) for name in ("cumsum", "cumprod")},
    **table("associative_scan", same),
    **table("max min", _maximum_along),
    **table("argmax argmin", _index_along),
    **table("reduce reduce_or", _reduce),
    **table("softmax", _softmax),
    **table("topk", _topk),
    **table("histogram", _histogram),
}
