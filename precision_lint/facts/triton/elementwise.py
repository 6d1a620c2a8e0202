"""Functions that compute element by element: what they return, and which dtypes they refuse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.language import Language, Version, as_tensor, number_dtypes
from precision_lint.facts.triton.transfer import Transfer, same, table
from precision_lint.facts.triton.values import (
    UNKNOWN,
    Arguments,
    Constant,
    Items,
    Pointer,
    Tensor,
    TypeRef,
    Value,
    broadcast,
    derived,
)

_WEAK_OPERANDS: Version = (3, 9)
"""Since then functions take numbers and bf16 as operators do; before, both became tensors first."""
_OF_WIDE_FLOATS = "exp exp2 log log2 sqrt rsqrt sin cos erf floor ceil sigmoid".split()


def _math(name: str, accepted: Dtypes, refused: Dtypes = types.ANY) -> Transfer:
    """A function of numbers of some dtypes, which surely refuses others."""

    def transfer(arguments: Arguments, language: Language) -> Value:
        values = (*arguments.positional, *arguments.keywords.values())
        keys = (*range(len(arguments.positional)), *arguments.keywords)
        for key, value in zip(keys, values, strict=True):
            if isinstance(value, Tensor) and value.dtypes <= refused - accepted:
                given, all_values = arguments.nodes.get(key), Items(tuple(map(as_tensor, values)))
                language.refusals.add("math", name, all_values, value, given=given)
                return derived(types.FLOAT32, broadcast(*values), *values)
        found, *others = map(as_tensor, values or (UNKNOWN,))
        for other in others:
            found = language.binary(found, other)
        if not isinstance(found, Tensor):
            return UNKNOWN
        return derived(found.dtypes & accepted, broadcast(*values), found)

    return transfer


def _select(arguments: Arguments, language: Language) -> Value:
    condition, left, right = (
        arguments.get(i, name) for i, name in enumerate(("condition", "x", "y"))
    )
    if condition is None or left is None or right is None:
        return UNKNOWN
    language.usage.mask(condition)
    if isinstance(left, Constant) and isinstance(right, Constant):
        kinds = number_dtypes(left), number_dtypes(right)
        return derived(types.combine(*kinds), broadcast(condition))
    if isinstance(left, Pointer) and isinstance(right, Pointer):
        return replace(
            left, elements=left.elements | right.elements, rank=broadcast(condition, left)
        )
    found = language.binary(left, right)
    if isinstance(found, Tensor):
        return derived(found.dtypes, broadcast(condition, left, right), left, right)
    return UNKNOWN


def _operands(values: Iterable[Value], language: Language) -> list[Value]:
    """The operands of a function that computes element by element."""
    if language.version >= _WEAK_OPERANDS:
        return list(values)
    return [
        Tensor(number_dtypes(value), 0) if isinstance(value, Constant) else value
        for value in values
    ]


def _extremum(arguments: Arguments, language: Language) -> Value:
    left, right = arguments.get(0, "x"), arguments.get(1, "y")
    if left is None or right is None:
        return UNKNOWN
    left, right = _operands((left, right), language)
    return language.halves_promote(language.binary(left, right), _WEAK_OPERANDS)


def _clamp(arguments: Arguments, language: Language) -> Value:
    given = arguments.get(0, "x"), arguments.get(1, "min"), arguments.get(2, "max")
    found, low, high = _operands((value or UNKNOWN for value in given), language)
    found = language.binary(language.binary(found, low), high)
    return language.halves_promote(found, _WEAK_OPERANDS)


def _fma(arguments: Arguments, language: Language) -> Value:
    if len(arguments.positional) != 3:
        return UNKNOWN
    x, y, z = _operands(arguments.positional, language)
    found = language.binary(language.binary(x, y), z)
    if any(isinstance(value, Constant) for value in arguments.positional):
        return language.halves_promote(found, _WEAK_OPERANDS)
    return found


def _operator(division: bool = False) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        if len(arguments.positional) != 2:
            return UNKNOWN
        return language.binary(*arguments.positional, division=division)

    return transfer


def _ceiling_division(arguments: Arguments, language: Language) -> Value:
    left, right = arguments.get(0, "x"), arguments.get(1, "div")
    if left is None or right is None:
        return UNKNOWN
    language.usage.index(left)
    language.usage.index(right)
    return language.binary(left, right)


def _inline_assembly(arguments: Arguments, language: Language) -> Value:
    match arguments.get(3, "dtype"):
        case TypeRef(dtypes=dtypes, is_pointer=False):
            return Tensor(dtypes)
    return UNKNOWN


TRANSFERS: dict[str, Transfer] = {
    **table("abs", same),
    **{name: _math(name, types.WIDE) for name in _OF_WIDE_FLOATS},
    **{name: _math(name, types.FLOAT32) for name in ("sqrt_rn", "div_rn")},
    **table("where", _select),
    **table("maximum minimum", _extremum),
    **table("clamp", _clamp),
    **table("fma", _fma),
    **table("add sub mul umulhi", _operator()),
    **table("fdiv", _operator(division=True)),
    **table("cdiv", _ceiling_division),
    **table("inline_asm_elementwise", _inline_assembly),
}

LIBDEVICE: dict[str, Transfer] = {
    **{
        name: _math(f"libdevice.{name}", types.WIDE, types.NARROW)
        for name in (
            "tanh sinh cosh tan asin acos atan atan2 asinh acosh atanh sin cos exp exp2 exp10 "
            "expm1 log log2 log10 log1p pow sqrt rsqrt cbrt erf erfc erfinv lgamma tgamma abs "
            "floor ceil round rint trunc nearbyint fmod hypot"
        ).split()
    },
    **{
        f"fast_{name}": _math(f"libdevice.fast_{name}", types.FLOAT32, types.NARROW)
        for name in "sinf cosf tanf tanhf expf exp10f logf log2f log10f powf dividef".split()
    },
}
"""The functions of libdevice that return what they are given: fp32, or fp64 if not fast."""
