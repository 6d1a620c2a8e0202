"""Loads, stores, atomics, and the pointers and descriptors that they take."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.language import Language, Version
from precision_lint.facts.triton.shapes import rank_of_shape
from precision_lint.facts.triton.transfer import Transfer, same, table
from precision_lint.facts.triton.values import (
    NONE,
    UNKNOWN,
    Arguments,
    Items,
    Pointer,
    Tensor,
    Value,
    anything,
    broadcast,
)

_ATOMIC_ADD_OF_BF16: Version = (3, 4)
_NO_FLOAT8_ATOMICS: Version = (3, 5)
"""Measured there; in 3.3 some pass."""
_NOT_ATOMIC: Dtypes = frozenset({"int1", "int8", "int16"})


def _block_pointer(shape_position: int) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        base = arguments.get(0, "base") or UNKNOWN
        rank = rank_of_shape(arguments.get(shape_position, "block_shape"))
        language.usage.address(base)
        for name, position in (("shape", 1), ("strides", 2), ("offsets", 3)):
            if position >= shape_position:
                continue
            given = arguments.get(position, name)
            for value in given.values if isinstance(given, Items) else ():
                language.usage.index(value)
        return replace(base, rank=rank) if isinstance(base, Pointer) else Pointer(types.ANY, rank)

    return transfer


def _load(arguments: Arguments, language: Language) -> Value:
    """Elements of the pointer's dtype; `other` and `mask` change nothing."""
    address = arguments.get(0, "pointer") or arguments.get(0, "desc") or UNKNOWN
    language.usage.address(address)
    if (mask := arguments.get(1, "mask")) is not None:
        language.usage.mask(mask)
    match address:
        case Pointer(elements=elements, rank=rank, parameter=parameter, has_many=has_many):
            found = Tensor(elements, rank, has_many=has_many)
            return replace(found, provenance=language.usage.loaded(parameter, elements))
        case Tensor(rank=rank):
            return anything(rank)
    return anything()


def _store(arguments: Arguments, language: Language) -> Value:
    language.usage.address(arguments.get(0, "pointer") or UNKNOWN)
    if (mask := arguments.get(2, "mask")) is not None:
        language.usage.mask(mask)
    return NONE


def _atomic(name: str) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        found = _load(Arguments(arguments.positional[:1], arguments.keywords), language)
        rank = broadcast(*arguments.positional[:2])
        if not isinstance(found, Tensor):
            return found
        refused = _NOT_ATOMIC
        if name != "atomic_add":
            refused |= types.HALF
        elif language.version < _ATOMIC_ADD_OF_BF16:
            refused |= {"bf16"}
        if language.version >= _NO_FLOAT8_ATOMICS:
            refused |= types.FLOAT8
        if name != "atomic_cas" and found.dtypes <= refused:
            node = arguments.node(0, "pointer")
            language.refusals.add("atomic", name, after=found, given=node)
        return replace(found, rank=rank)

    return transfer


TRANSFERS: dict[str, Transfer] = {
    **table("make_block_ptr", _block_pointer(4)),
    **table("make_tensor_descriptor", _block_pointer(3)),
    **table("advance", same),
    **table("load load_tensor_descriptor", _load),
    **table("store store_tensor_descriptor", _store),
    **{
        f"atomic_{name}": _atomic(f"atomic_{name}")
        for name in ("add", "max", "min", "xchg", "and", "or", "xor", "cas")
    },
}
