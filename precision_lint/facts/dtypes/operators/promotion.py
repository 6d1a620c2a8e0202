"""Type promotion: the dtype of an operation on several operands, as torch 2.13 decides it.

Operands have three ranks: tensors with dimensions, tensors without, Python numbers. Those of one
rank promote to each other; a lower rank counts only if it is of a higher category (bool, integer,
floating, complex) than the ranks above it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, reduce
from itertools import product

from precision_lint.facts.dtypes._generated.kernels import AGREEING
from precision_lint.facts.dtypes._generated.operators import METHODS
from precision_lint.facts.dtypes._generated.promotion_table import PROMOTED
from precision_lint.facts.dtypes.domain.calls import Region
from precision_lint.facts.dtypes.domain.containers import concatenated
from precision_lint.facts.dtypes.domain.lattice import join_tensors, reading
from precision_lint.facts.dtypes.domain.values import (
    ANONYMOUS,
    BOTTOM,
    NON_TENSOR,
    SOME_TENSOR,
    UNKNOWN,
    Bottom,
    Clause,
    Condition,
    Constant,
    Dtype,
    Model,
    ModelOutput,
    NonTensor,
    Sequence,
    Tensor,
    Unknown,
    Value,
    Variable,
    clauses_of,
    simplified,
    some_tensor,
    tensor,
)
from precision_lint.facts.dtypes.operators import array_results
from precision_lint.facts.dtypes.operators.autocast import cast
from precision_lint.facts.dtypes.operators.kinds import CHOICES, complex_of, result_dtype
from precision_lint.facts.dtypes.operators.numbers import is_number, of_numbers
from precision_lint.facts.dtypes.syntax.sources import NUMPY_DTYPES
from precision_lint.facts.origin import Origin, Setting
from precision_lint.model.dtypes import BFLOAT16, BOOL, DTYPES, FLOAT32, FLOATING, HALF, INT64

COMPLEX = frozenset({"complex32", "complex64", "complex128"})
INTEGRAL = DTYPES - FLOATING - COMPLEX
"""Integers and bool."""
_INTEGERS = INTEGRAL - {BOOL}
_WIDE = frozenset({FLOAT32, "float64"}) | COMPLEX
"""What no half dtype takes part in the choice of."""

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "bitwise_left_shift",
    ast.RShift: "bitwise_right_shift",
}
"""The methods that operators call."""

_DIMENSIONED, _SCALAR, _NUMBER = range(3)
_Operand = tuple[int, Tensor]
"""A rank, and the dtypes that the operand can have."""


def operator(
    left: Value,
    right: Value,
    op: type[ast.operator],
    autocast: Region | None = None,
    default: str = FLOAT32,
) -> Value:
    """The value of a binary operator."""
    # arrays of NumPy are seldom multiplied where autocast is on
    is_product = op is ast.MatMult and autocast is not None and _are_unknown(left, right)
    if is_tensor(left) or is_tensor(right) or is_product:
        name = _OPERATORS[op]
        row = METHODS[name]
        if op is ast.Div and is_number(left):
            # torch computes it as `right.reciprocal() * left`
            right = cast(as_tensor(right), METHODS["reciprocal"], autocast)
        operands = [cast(as_tensor(value), row, autocast) for value in (left, right)]
        promoted = (name in AGREEING and agreed(operands)) or promote(operands, default)
        if row.shape == "contracts":
            tensors = [value for value in operands if isinstance(value, Tensor)]
            promoted = replace(promoted, scalar=contracted(tensors))
        return result_dtype(row.result, promoted, default)
    if (number := of_numbers(left, right, op)) is not None:
        return number
    match left, right:
        case (NonTensor(), NonTensor() | Constant()) | (Constant(), NonTensor()):
            return array_results.operated(left, right, op)
        case (Sequence(), Sequence()) if op is ast.Add:
            return concatenated(left, right)
        case (Sequence(items=None), _) if op is ast.Add:
            return left
        case ((Sequence() as repeated), _) | (_, (Sequence() as repeated)) if op is ast.Mult:
            return Sequence(repeated.item)
    return UNKNOWN


def _are_unknown(*values: Value) -> bool:
    return all(isinstance(value, Unknown) for value in values)


def unary(operand: Value, op: type[ast.unaryop]) -> Value:
    """The value of `-x`, `+x` or `~x`."""
    match operand:
        case Tensor() | NonTensor() | Bottom() | Variable():
            return operand
        case ModelOutput():
            return operand.tensor
        case Constant(value=bool() | int() | float() | complex() as number) if op is ast.USub:
            return Constant(-number)
        case Constant(value=int() | float() | complex()) if op is ast.UAdd:
            return operand
        case Constant(value=None):
            return BOTTOM  # it raises
        case Dtype() | Model() if clauses_of(operand):
            # neither has a sign: it is the other object that the value may be
            return replace(some_tensor(operand), scalar=None)
    return UNKNOWN


def compare(left: Value, right: Value) -> Value:
    """The value of `left < right` and its like; unknown if neither is a tensor nor an array."""
    tensors = [value for value in map(as_tensor, (left, right)) if isinstance(value, Tensor)]
    if tensors:
        scalar = scalar_of(tensors)
        is_known = not (isinstance(left, Unknown) or isinstance(right, Unknown))
        return tensor(BOOL, scalar=scalar if is_known or not scalar else None)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return UNKNOWN
    return NON_TENSOR if isinstance(left, NonTensor) or isinstance(right, NonTensor) else UNKNOWN


def is_tensor(value: Value) -> bool:
    return isinstance(value, Tensor | ModelOutput)


def as_tensor(value: Value) -> Value:
    """The tensor that a value is where an operator takes it; else the value itself."""
    read = reading(value)
    return read.tensor if isinstance(read, ModelOutput) else read


def scalar_of(operands: Iterable[Tensor]) -> bool | None:
    """Whether the result of an elementwise operation has no dimension."""
    scalars = {operand.scalar for operand in operands}
    if False in scalars:
        return False
    return None if None in scalars else True


def contracted(operands: Iterable[Tensor]) -> bool | None:
    """Whether a product has no dimension, as that of two vectors; models multiply matrices."""
    return None if all(operand.must_be(DTYPES) for operand in operands) else False


# Operands


def agreed(values: Iterable[Value]) -> Tensor | None:
    """What operands that need one dtype make: that of one of which it is certain, if there is one.

    With another dtype beside it the operation raises, so no other result is possible.
    """
    tensors = [value for value in values if isinstance(value, Tensor)]
    certain = (one for one in tensors if len(one.dtypes) == 1 and one.must_be(FLOATING))
    return next(certain, None)


def promote(values: Iterable[Value], default: str = FLOAT32) -> Tensor:
    """The dtype of an operation on operands of any rank."""
    given = [*values]
    alternatives = product(*(_ranked(value, default) for value in given))
    results = [
        replace(result, origin=None) if _is_guess(alternative, given) else result
        for alternative in alternatives
        if (result := _promote_ranked(alternative)) != _RAISES
    ]
    return reduce(join_tensors, results) if results else SOME_TENSOR


def _is_guess(alternative: tuple[_Operand | None, ...], given: list[Value]) -> bool:
    """True where an operand that may be wide has no dimension, though nothing says so of it.

    Most tensors have dimensions. Next to one without, half precision stays, but that is no witness.
    """
    is_dimensioned = any(each is not None and each[0] == _DIMENSIONED for each in alternative)
    return is_dimensioned and any(
        operand is not None
        and operand[0] == _SCALAR
        and not operand[1].dtypes.isdisjoint(_WIDE)
        and isinstance(value, Tensor)
        and value.scalar is None
        for operand, value in zip(alternative, given, strict=True)
    )


def _ranked(value: Value, default: str) -> list[_Operand | None]:
    """What an operand can be; None for one that leaves the others as they are."""
    match value:
        case ModelOutput():
            return _ranked(value.tensor, default)
        case Tensor(scalar=None):
            return [(_DIMENSIONED, value), (_SCALAR, value)]
        case Tensor():
            return [(_SCALAR if value.scalar else _DIMENSIONED, value)]
        case Constant(value=bool()):
            return [(_NUMBER, tensor(BOOL))]
        case Condition():
            return [(_NUMBER, tensor(BOOL)), (_DIMENSIONED, tensor(BOOL))]
        case Constant(value=int()):
            return [(_NUMBER, tensor(INT64))]
        case Constant(value=float()):
            return [(_NUMBER, tensor(default))]
        case Constant(value=complex()):
            return [(_NUMBER, tensor(complex_of(default)))]
        case Constant() | Bottom():
            return [None]
        case Setting(choices=choices):
            return [
                operand for choice in choices for operand in _ranked(_number(choice.value), default)
            ]
        case NonTensor(dtypes=dtypes, scalar=True) if dtypes:
            # A scalar of NumPy is a Python number to torch, a truth value a floating one.
            return [(_NUMBER, tensor(INT64 if d in _INTEGERS else default)) for d in dtypes]
        case NonTensor():
            numbers = (BOOL, INT64, default)
            return [*((_NUMBER, tensor(one)) for one in numbers), (_DIMENSIONED, tensor(_ARRAY))]
    return [None, (_DIMENSIONED, some_tensor(value))]


def _number(value: object) -> Value:
    return Constant(value) if isinstance(value, bool | int | float) else UNKNOWN


def _promote_ranked(operands: tuple[_Operand | None, ...]) -> Tensor:
    ranks: list[Tensor | None] = [None, None, None]
    for operand in operands:
        if operand is not None:
            rank, current = operand
            above = ranks[rank]
            ranks[rank] = current if above is None else _combine(above, current, _of_one_rank)
    dimensioned, scalar, number = ranks
    result = _below(dimensioned, _below(scalar, number))
    if result is None:
        return SOME_TENSOR
    return result if result == _RAISES else replace(result, scalar=dimensioned is None)


def _below(higher: Tensor | None, lower: Tensor | None) -> Tensor | None:
    if higher is None or lower is None:
        return higher or lower
    return _combine(higher, lower, _of_two_ranks)


# Pairs of dtypes, and of what stands for several: what the caller chooses, what is not known, what
# an array of NumPy has.

_CHOSEN, _SOME, _ARRAY = "chosen", "some", "array"
_PSEUDO = frozenset({_CHOSEN, _SOME, _ARRAY})
_MOST_CLAUSES = 64
"""Pairs of clauses that are kept apart: those of a long polynomial would be thousands."""
_RAISES = Tensor()
"""What operands give whose dtypes torch does not promote."""

_Rule = Callable[[str, str], frozenset[str]]


def _combine(left: Tensor, right: Tensor, rule: _Rule) -> Tensor:
    options = frozenset[str]().union(
        *(
            _likely(rule(one, other), (left, one), (right, other))
            for one in _options(left)
            for other in _options(right)
        )
    )
    is_chosen, is_other = _CHOSEN in options, _SOME in options or _ARRAY in options
    is_half = is_chosen or not options.isdisjoint(HALF)
    deciding = (left, right) if rule is _of_one_rank else (left,)
    is_shown = not any(map(_is_wide_as_shown, deciding))
    return Tensor(
        options - _PSEUDO,
        is_chosen,
        is_other,
        _origin(left, right, options) if is_shown or not is_half else None,
        clauses=_clauses(left, right, rule) if is_chosen or is_other else frozenset(),
    )


def _likely(results: frozenset[str], *operands: tuple[Tensor, str]) -> frozenset[str]:
    """What operands of some dtypes make; of an array of which nothing is known, no narrow float.

    Most arrays are float32 or float64, and nothing says that this one holds integers.
    """
    is_of_any_array = any(
        operand.dtypes >= NUMPY_DTYPES and dtype in NUMPY_DTYPES - _WIDE
        for operand, dtype in operands
    )
    narrow = results & {BFLOAT16, _CHOSEN}
    return results - narrow | {_SOME} if is_of_any_array and narrow else results


def _is_wide_as_shown(operand: Tensor) -> bool:
    """True for a tensor that is wide, and half only if something is so that nothing shows."""
    if operand.caller_chosen or operand.dtypes.isdisjoint(_WIDE):
        return False
    is_never_half = operand.dtypes.isdisjoint(HALF)
    return operand.may_be_other if is_never_half else operand.origin is None


def _origin(left: Tensor, right: Tensor, options: frozenset[str]) -> Origin | None:
    """Where the dtype of a result comes from: float32 from an operand that is float32."""
    if options <= _WIDE:
        wide = [each for each in (left, right) if each.must_be(_WIDE)]
        return next((each.origin for each in wide if each.origin is not None), None)
    # the place of another dtype does not stand in for that of a half one
    narrow = [each for each in (left, right) if each.caller_chosen or each.dtypes & HALF]
    return next((each.origin for each in narrow or (left, right) if each.origin is not None), None)


def _clauses(left: Tensor, right: Tensor, rule: _Rule) -> frozenset[Clause]:
    """The clauses of a result: what takes part in the choice of its dtype."""
    if not (left.clauses or right.clauses):
        return frozenset()
    if len(left.clauses) * len(right.clauses) > _MOST_CLAUSES:
        return frozenset()  # widened: anything may take part
    if rule is _of_one_rank:
        pairs = [(one, other) for one in left.choices for other in right.choices]
        pairs += [(one, frozenset({dtype})) for one in left.choices for dtype in _keeping(right)]
        pairs += [(frozenset({dtype}), one) for one in right.choices for dtype in _keeping(left)]
        return simplified(frozenset(_together(one, other) for one, other in pairs))
    clauses = set(left.choices)
    if left.dtypes & INTEGRAL:
        clauses |= right.choices
    if left.may_be_other or left.dtypes & INTEGRAL:  # of integers, a lower rank can make floats
        clauses.add(ANONYMOUS)
    return simplified(frozenset(clauses))


def _keeping(operand: Tensor) -> list[str]:
    """The dtypes beside which bfloat16 of the same rank stays bfloat16."""
    return [dtype for dtype in operand.dtypes if BFLOAT16 in _of_one_rank(BFLOAT16, dtype)]


def _together(one: Clause, other: Clause) -> Clause:
    return ANONYMOUS if ANONYMOUS in (one, other) else one | other


def _options(operand: Tensor) -> list[str]:
    options = [*operand.dtypes]
    if operand.caller_chosen:
        options.append(_CHOSEN)
    if operand.may_be_other:
        options.append(_SOME)
    return options


@cache
def _of_one_rank(one: str, other: str) -> frozenset[str]:
    """What operands of one rank promote to; nothing where torch rejects the pair."""
    if other in _PSEUDO and one not in _PSEUDO:
        one, other = other, one
    match one, other:
        case _ if one not in _PSEUDO:
            return frozenset(filter(None, [PROMOTED[one].get(other)]))
        case _ if one == other:
            return frozenset({one})
        case ("chosen", "array") | ("array", "chosen"):
            return frozenset({_CHOSEN})
        case ("chosen", "some") | ("some", "chosen"):
            return frozenset({_CHOSEN, _SOME})
        case (("some" | "array"), ("some" | "array")):
            return frozenset({_SOME})
        case "chosen", _ if other in COMPLEX:
            return frozenset(PROMOTED[choice][other] for choice in CHOICES)
        case "chosen", _:
            # A proved float32 decides: that the caller chooses float64 is a thing apart.
            return frozenset({other if other in _WIDE else _CHOSEN})
        case "array", "bfloat16":
            return frozenset()
        case "array", _ if other in FLOATING | COMPLEX:
            return frozenset(filter(None, map(PROMOTED[other].get, (other, FLOAT32, "float64"))))
        case "some", _ if other in _WIDE:
            return frozenset(PROMOTED[other].values())
    return frozenset({_SOME})


@cache
def _of_two_ranks(higher: str, lower: str) -> frozenset[str]:
    """What a dtype becomes beside an operand of a lower rank."""
    match higher, lower:
        case _, "chosen" if higher in INTEGRAL:
            return frozenset({_CHOSEN})
        case _, "some" if higher in FLOATING:
            return frozenset({higher, complex_of(higher)})
        case _ if higher in COMPLEX or lower == _CHOSEN:
            return frozenset({higher})
        case _ if higher in FLOATING:
            return frozenset({complex_of(higher) if lower in COMPLEX else higher})
        case "chosen", _ if lower in COMPLEX:
            return frozenset({_SOME, "complex64", "complex128"})
        case "chosen", _:
            return frozenset({_CHOSEN})
        case _ if higher in _PSEUDO or lower in _PSEUDO:
            return frozenset({_SOME})
        case _ if lower in COMPLEX:
            return frozenset({lower})
        case _ if higher == BOOL or lower not in INTEGRAL:
            return frozenset(filter(None, [PROMOTED[higher].get(lower)]))
    return frozenset({higher})
