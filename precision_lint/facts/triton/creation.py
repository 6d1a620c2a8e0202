"""Functions that make blocks and numbers: filled, counted, random, of the grid."""

from __future__ import annotations

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.language import Language, dtype_of
from precision_lint.facts.triton.shapes import rank_of_shape
from precision_lint.facts.triton.transfer import Transfer, table
from precision_lint.facts.triton.values import (
    NOT_KNOWN,
    UNKNOWN,
    Arguments,
    Constant,
    Items,
    Tensor,
    Value,
    broadcast,
)


def _full(arguments: Arguments, language: Language) -> Value:
    if arguments.get(2, "dtype") is None:
        language.refusals.add("argument", "full")
    return _filled(arguments, dtype_of(arguments.get(2, "dtype")))


def _zeros(arguments: Arguments, language: Language) -> Value:
    if arguments.get(1, "dtype") is None:
        language.refusals.add("argument", "zeros")
    return _filled(arguments, dtype_of(arguments.get(1, "dtype")))


def _filled(arguments: Arguments, dtypes: Dtypes) -> Value:
    shape = arguments.get(0, "shape")
    sizes = shape.values if isinstance(shape, Items) else ()
    has_many = any(
        isinstance(size, Constant) and size.value not in (1, NOT_KNOWN) for size in sizes
    )
    return Tensor(dtypes, rank_of_shape(shape), has_many=has_many)


def _zeros_like(arguments: Arguments, language: Language) -> Value:
    match arguments.get(0, "input"):
        case Tensor() as value:
            return Tensor(value.dtypes, value.rank)
    return UNKNOWN


def _range(arguments: Arguments, language: Language) -> Value:
    match arguments.get(0, "start"), arguments.get(1, "end"):
        case Constant(value=int() as start), Constant(value=int() as end):
            return Tensor(types.INT32, 1, has_many=end - start > 1)
    return Tensor(types.INT32, 1)


def _of_grid(arguments: Arguments, language: Language) -> Value:
    return Tensor(types.INT32, 0)


def _random(dtypes: Dtypes) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        return Tensor(dtypes, broadcast(arguments.get(1, "offset") or UNKNOWN))

    return transfer


def _random4(dtypes: Dtypes) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        return Items((Tensor(dtypes, broadcast(arguments.get(1, "offset") or UNKNOWN)),) * 4)

    return transfer


TRANSFERS: dict[str, Transfer] = {
    **table("full", _full),
    **table("zeros", _zeros),
    **table("zeros_like", _zeros_like),
    **table("arange", _range),
    **table("program_id num_programs", _of_grid),
    **table("rand randn", _random(types.FLOAT32)),
    **table("randint", _random(types.INTEGERS)),
    **table("rand4x randn4x", _random4(types.FLOAT32)),
    **table("randint4x", _random4(types.INTEGERS)),
}
