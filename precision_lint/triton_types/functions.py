"""What the functions of `triton.language` return, by the types of their arguments.

Measured on Triton 3.0 to 3.9; where versions differ, the table asks for the version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from precision_lint.triton_types import dtypes as types
from precision_lint.triton_types.dtypes import Dtypes
from precision_lint.triton_types.language import (
    Language,
    Version,
    as_tensor,
    dtype_of,
    number_dtypes,
)
from precision_lint.triton_types.products import dot, dot_scaled
from precision_lint.triton_types.values import (
    NONE,
    NOT_KNOWN,
    NUMBER_NOT_KNOWN,
    UNKNOWN,
    Arguments,
    Constant,
    Items,
    Pointer,
    Provenance,
    Tensor,
    TypeRef,
    Unknown,
    Value,
    anything,
    broadcast,
    derived,
)

Transfer = Callable[[Arguments, Language], Value]


def _rank_of_shape(value: Value | None) -> int | None:
    return len(value.values) if isinstance(value, Items) else None


def same(arguments: Arguments, language: Language) -> Value:
    """Neither dtype nor rank change."""
    return arguments.get(0, "input") or UNKNOWN


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


def _extremum(arguments: Arguments, language: Language) -> Value:
    left, right = arguments.get(0, "x"), arguments.get(1, "y")
    if left is None or right is None:
        return UNKNOWN
    left, right = _operands((left, right), language)
    return language.halves_promote(language.binary(left, right), _WEAK_OPERANDS)


_WEAK_OPERANDS: Version = (3, 9)
"""Since then functions take numbers and bf16 as operators do; before, both became tensors first."""


def _operands(values: Iterable[Value], language: Language) -> list[Value]:
    """The operands of a function that computes element by element."""
    if language.version >= _WEAK_OPERANDS:
        return list(values)
    return [
        Tensor(number_dtypes(value), 0) if isinstance(value, Constant) else value
        for value in values
    ]


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


def _accumulated(dtypes: Dtypes, language: Language, since: Version) -> Dtypes:
    """What sums and scans compute in: at least 32 bits for integers; bf16 as it is, `since`."""
    if language.version < since:
        return types.widened(dtypes, frozenset({"bf16"}))
    narrow = {"int1": "uint32", "uint8": "uint32", "uint16": "uint32"}
    narrow |= {"int8": "int32", "int16": "int32"}
    return frozenset(narrow.get(dtype, dtype) for dtype in dtypes)


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


def cast(arguments: Arguments, language: Language) -> Value:
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
            if found == types.FLOAT32:
                language.usage.vary(value)
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
    return Tensor(dtypes, _rank_of_shape(shape), has_many=has_many)


def _range(arguments: Arguments, language: Language) -> Value:
    match arguments.get(0, "start"), arguments.get(1, "end"):
        case Constant(value=int() as start), Constant(value=int() as end):
            return Tensor(types.INT32, 1, has_many=end - start > 1)
    return Tensor(types.INT32, 1)


def _zeros_like(arguments: Arguments, language: Language) -> Value:
    match arguments.get(0, "input"):
        case Tensor() as value:
            return Tensor(value.dtypes, value.rank)
    return UNKNOWN


def _fresh(dtypes: Dtypes, rank: int | None) -> Transfer:
    return lambda arguments, language: Tensor(dtypes, rank)


def _random(dtypes: Dtypes) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        return Tensor(dtypes, broadcast(arguments.get(1, "offset") or UNKNOWN))

    return transfer


def _random4(dtypes: Dtypes) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        return Items((Tensor(dtypes, broadcast(arguments.get(1, "offset") or UNKNOWN)),) * 4)

    return transfer


def _ceiling_division(arguments: Arguments, language: Language) -> Value:
    left, right = arguments.get(0, "x"), arguments.get(1, "div")
    if left is None or right is None:
        return UNKNOWN
    language.usage.index(left)
    language.usage.index(right)
    return language.binary(left, right)


def _reshaped(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "input")
    if not isinstance(value, Tensor | Pointer):
        return UNKNOWN
    shape = arguments.get(1, "shape")
    if isinstance(shape, Constant):  # tl.view(x, 4, 16)
        shape = Items(arguments.positional[1:])
    return replace(value, rank=_rank_of_shape(shape))


def _ranked(change: int) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        value = arguments.get(0, "input")
        if not isinstance(value, Tensor | Pointer):
            return UNKNOWN
        known = value.rank is not None and isinstance(arguments.get(1, "axis"), Constant | None)
        return replace(value, rank=(value.rank or 0) + change if known else None)

    return transfer


def _flattened(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "x")
    return replace(value, rank=1) if isinstance(value, Tensor | Pointer) else UNKNOWN


def _split(arguments: Arguments, language: Language) -> Value:
    value = _ranked(-1)(arguments, language)
    return Items((value, value))


def _together(change: int) -> Transfer:
    """`tl.join`, `tl.cat`: two tensors become one."""

    def transfer(arguments: Arguments, language: Language) -> Value:
        left, right = arguments.get(0, "a"), arguments.get(1, "b")
        if not isinstance(left, Tensor) or not isinstance(right, Tensor):
            return UNKNOWN
        rank = None if left.rank is None else left.rank + change
        return derived(left.dtypes | right.dtypes, rank, left, right)

    return transfer


def _topk(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "x")
    if not isinstance(value, Tensor):
        return UNKNOWN
    return derived(value.dtypes | types.at_least_32_bits(value.dtypes), value.rank, value)


def _block_pointer(shape_position: int) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        base = arguments.get(0, "base") or UNKNOWN
        rank = _rank_of_shape(arguments.get(shape_position, "block_shape"))
        language.usage.address(base)
        for name, position in (("shape", 1), ("strides", 2), ("offsets", 3)):
            if position >= shape_position:
                continue
            given = arguments.get(position, name)
            for value in given.values if isinstance(given, Items) else ():
                language.usage.index(value)
        return replace(base, rank=rank) if isinstance(base, Pointer) else Pointer(types.ANY, rank)

    return transfer


def load(arguments: Arguments, language: Language) -> Value:
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


_ATOMIC_ADD_OF_BF16: Version = (3, 4)
_NO_FLOAT8_ATOMICS: Version = (3, 5)
"""Measured there; in 3.3 some pass."""


def _atomic(name: str) -> Transfer:
    def transfer(arguments: Arguments, language: Language) -> Value:
        found = load(Arguments(arguments.positional[:1], arguments.keywords), language)
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


_NOT_ATOMIC: Dtypes = frozenset({"int1", "int8", "int16"})


def _inline_assembly(arguments: Arguments, language: Language) -> Value:
    match arguments.get(3, "dtype"):
        case TypeRef(dtypes=dtypes, is_pointer=False):
            return Tensor(dtypes)
    return UNKNOWN


def _pointer_type(arguments: Arguments, language: Language) -> Value:
    return TypeRef(dtype_of(arguments.get(0, "element_ty")), is_pointer=True)


def _compile_time(arguments: Arguments, language: Language) -> Value:
    value = arguments.get(0, "value")
    return value if isinstance(value, Constant | TypeRef) else NUMBER_NOT_KNOWN


def _broadcast(arguments: Arguments, language: Language) -> Value:
    left, right = arguments.get(0, "input"), arguments.get(1, "other")
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        return UNKNOWN
    rank = broadcast(left, right)
    return Items((replace(left, rank=rank), replace(right, rank=rank)))


def _nothing(arguments: Arguments, language: Language) -> Value:
    return NONE


def _table(names: str, transfer: Transfer) -> dict[str, Transfer]:
    return dict.fromkeys(names.split(), transfer)


_OF_WIDE_FLOATS = "exp exp2 log log2 sqrt rsqrt sin cos erf floor ceil sigmoid".split()

TRANSFERS: dict[str, Transfer] = {
    **_table("abs flip sort trans permute gather advance", same),
    **_table("multiple_of max_contiguous max_constancy associative_scan", same),
    **{name: _math(name, types.WIDE) for name in _OF_WIDE_FLOATS},
    **{name: _math(name, types.FLOAT32) for name in ("sqrt_rn", "div_rn")},
    **_table("where", _select),
    **_table("maximum minimum", _extremum),
    **_table("clamp", _clamp),
    **_table("fma", _fma),
    **_table("add sub mul umulhi", _operator()),
    **_table("fdiv", _operator(division=True)),
    **_table("sum", _sum),
    **{name: _scan(name) for name in ("cumsum", "cumprod")},
    **_table("max min", _maximum_along),
    **_table("argmax argmin", _index_along),
    **_table("reduce reduce_or", _reduce),
    **_table("softmax", _softmax),
    **_table("dot", dot),
    **_table("dot_scaled", dot_scaled),
    **_table("cast", cast),
    **_table("full", _full),
    **_table("zeros", _zeros),
    **_table("zeros_like", _zeros_like),
    **_table("arange", _range),
    **_table("program_id num_programs", _fresh(types.INT32, 0)),
    **_table("histogram", _fresh(types.INT32, 1)),
    **_table("rand randn", _random(types.FLOAT32)),
    **_table("randint", _random(types.INTEGERS)),
    **_table("rand4x randn4x", _random4(types.FLOAT32)),
    **_table("randint4x", _random4(types.INTEGERS)),
    **_table("cdiv", _ceiling_division),
    **_table("reshape view broadcast_to", _reshaped),
    **_table("expand_dims unsqueeze", _ranked(1)),
    **_table("squeeze", _ranked(-1)),
    **_table("ravel", _flattened),
    **_table("split", _split),
    **_table("join", _together(1)),
    **_table("cat interleave", _together(0)),
    **_table("topk", _topk),
    **_table("broadcast", _broadcast),
    **_table("make_block_ptr", _block_pointer(4)),
    **_table("make_tensor_descriptor", _block_pointer(3)),
    **_table("load load_tensor_descriptor", load),
    **_table("store store_tensor_descriptor", _store),
    **{
        f"atomic_{name}": _atomic(f"atomic_{name}")
        for name in ("add", "max", "min", "xchg", "and", "or", "xor", "cas")
    },
    **_table("inline_asm_elementwise", _inline_assembly),
    **_table("pointer_type", _pointer_type),
    **_table("constexpr", _compile_time),
    **_table("static_assert static_print device_print device_assert debug_barrier", _nothing),
    **_table("assume", _nothing),
}
"""By name in `triton.language`; `tl.math` and tensor methods have the same names."""


_LIBDEVICE = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "fast_")
    for name in (
        "tanh sinh cosh tan asin acos atan atan2 asinh acosh atanh sin cos exp exp2 exp10 expm1 "
        "log log2 log10 log1p pow powf sqrt rsqrt cbrt erf erfc erfinv lgamma tgamma fabs abs "
        "floor ceil round rint trunc nearbyint fmod hypot dividef"
    ).split()
)
"""The functions of libdevice that return what they are given: fp32 or fp64."""

_PACKAGES = frozenset(
    f"triton.language{package}" for package in ("", ".math", ".core", ".standard", ".random")
)


def call(path: str, arguments: Arguments, language: Language) -> Value:
    """What a function of Triton returns, by its qualified name."""
    package, _, name = path.rpartition(".")
    if package in _PACKAGES and name in TRANSFERS:
        return TRANSFERS[name](arguments, language)
    if name in _LIBDEVICE and package.startswith(("triton.language", "triton.ops")):
        return _math(f"libdevice.{name}", types.WIDE, types.NARROW)(arguments, language)
    if path == "triton.cdiv":
        return _ceiling_division(arguments, language)
    return NUMBER_NOT_KNOWN if package == "triton" else UNKNOWN
