"""What operators, comparisons, `and`, `or`, `not` and indexing make of values."""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.triton import dtype_tests
from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.folding import fold, fold_comparison
from precision_lint.facts.triton.language import Language
from precision_lint.facts.triton.usage import Usage
from precision_lint.facts.triton.values import (
    COMPILE_TIME,
    NUMBER_NOT_KNOWN,
    UNKNOWN,
    Constant,
    Pointer,
    Tensor,
    TypeRef,
    Value,
    broadcast,
    derived,
    have_many,
    is_only,
)

_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
"""The operators that compute in the dtype of their operands."""


def binary(op: ast.operator, left: Value, right: Value, language: Language) -> Value:
    """`left op right`."""
    match left, right, op:
        case Constant(is_known=True), Constant(is_known=True), _:
            return fold(op, left.value, right.value)
        case (Pointer(), Pointer(), ast.Sub()):
            return Tensor(frozenset({"int64"}), broadcast(left, right))
        case (Pointer() as pointer, offset, ast.Add() | ast.Sub()) | (
            offset,
            Pointer() as pointer,
            ast.Add(),
        ):
            language.usage.index(offset)
            rank, has_many = broadcast(pointer, offset), have_many(pointer, offset)
            return replace(pointer, rank=rank, has_many=has_many)
        case _, _, ast.BitAnd() | ast.BitOr() | ast.BitXor() | ast.LShift() | ast.RShift():
            return _bitwise(left, right, language)
        case _, _, ast.FloorDiv():
            language.usage.index(left)
            language.usage.index(right)
            return _only(language.binary(left, right, division=True), types.INTEGERS)
        case _, _, ast.Div():
            found = language.binary(left, right, division=True)
            if isinstance(found, Tensor):
                return derived(types.true_division(found.dtypes), found.rank, found)
            return found
        case _, _, ast.Mod():
            return language.binary(left, right, division=True)
        case _, _, ast.Add() | ast.Sub():
            return _sum(left, right, language)
        case _, _, ast.Mult():
            return language.binary(left, right)
    return NUMBER_NOT_KNOWN if are_constant(left, right) else UNKNOWN


def _sum(left: Value, right: Value, language: Language) -> Value:
    """A sum keeps its first parameter in mind: it may turn out to be a pointer."""
    found = language.binary(left, right)
    bases = [
        value.provenance.base
        for value in (left, right)
        if isinstance(value, Tensor) and value.provenance.base is not None
    ]
    if not bases:
        return found
    if not isinstance(found, Tensor):
        found = Tensor(types.ANY, broadcast(left, right))
    return replace(found, provenance=replace(found.provenance, base=bases[0]))


def _bitwise(left: Value, right: Value, language: Language) -> Value:
    for value, other in ((left, right), (right, left)):
        # Comparisons are combined with `&`: those say nothing about what was compared.
        if isinstance(value, Tensor) and value.dtypes != types.BOOL:
            language.usage.index(value)
        language.usage.mask(other)
    return _only(language.binary(left, right), types.INTEGERS)


def lacks_float8(op: ast.operator, left: Value, right: Value, found: Value) -> str | None:
    """The symbol of `op` where float8 has no instructions for it, and no type beside integers."""
    is_refused = is_float8(found) or (
        any(map(is_float8, (left, right)))
        and any(is_only(value, types.INTEGERS) for value in (left, right))
    )
    return _ARITHMETIC.get(type(op)) if is_refused else None


def unary(op: ast.unaryop, value: Value) -> Value:
    """`op value`."""
    match op, value:
        case ast.Not(), Constant(is_known=True):
            return Constant(not value.value)
        case ast.USub(), Constant(value=int() | float() as number):
            return Constant(-number)
        case _, Constant():
            return NUMBER_NOT_KNOWN
        case ast.Not(), Tensor(rank=rank):
            return Tensor(types.BOOL, rank, has_many=value.has_many)
        case ast.Invert(), Tensor():
            return _only(value, types.INTEGERS)
        case ast.USub() | ast.UAdd(), Tensor():
            return derived(value.dtypes, value.rank, value)
    return UNKNOWN


def comparison(op: ast.cmpop, left: Value, right: Value, usage: Usage) -> Value:
    """`left op right`, for two operands of what may be a chain."""
    match op, left, right:
        case ast.Is() | ast.IsNot() | ast.In() | ast.NotIn(), _, _:
            if are_constant(left, right) and isinstance(op, ast.Is | ast.IsNot):
                return fold_comparison(op, left, right)
            return COMPILE_TIME
        case _, Constant(), Constant():
            return fold_comparison(op, left, right)
        case ast.Eq() | ast.NotEq(), TypeRef(), TypeRef():
            same = dtype_tests.equal(left, right)
            if isinstance(op, ast.NotEq) and isinstance(same, Constant) and same.is_known:
                return Constant(not same.value)
            return same
        case _, (TypeRef() | Constant()), (TypeRef() | Constant()):
            return COMPILE_TIME
        case (_, Tensor() | Pointer(), _) | (_, _, Tensor() | Pointer()):
            usage.compare(left, right)
            if {left, right} & {UNKNOWN}:
                return Tensor(types.BOOL)
            return Tensor(types.BOOL, broadcast(left, right), has_many=have_many(left, right))
    return UNKNOWN


def boolean(op: ast.boolop, values: list[Value]) -> Value:
    """`and`, `or`: run-time unless the compile-time operands decide."""
    decisive = isinstance(op, ast.Or)
    for value in values:
        if isinstance(value, Constant) and value.is_known and bool(value.value) is decisive:
            return value
    tensors = [value for value in values if isinstance(value, Tensor)]
    if len(tensors) == 1:
        return replace(tensors[0], loads=frozenset())
    if tensors:
        return Tensor(types.BOOL, broadcast(*tensors), has_many=have_many(*tensors))
    if all(isinstance(value, Constant) for value in values):
        return (
            values[-1]
            if all(v.is_known for v in values if isinstance(v, Constant))
            else COMPILE_TIME
        )
    return UNKNOWN


def indexed(value: Tensor | Pointer, index: ast.expr) -> Value:
    """`value[:, None]`, which adds axes; what is indexed otherwise only looked like a tensor."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    axes = [part for part in parts if isinstance(part, ast.Constant) and part.value is None]
    if len(axes) + sum(isinstance(part, ast.Slice) for part in parts) < len(parts):
        return UNKNOWN
    return replace(value, rank=None if value.rank is None else value.rank + len(axes))


def is_float8(value: Value) -> bool:
    """True if a value certainly is float8."""
    return is_only(value, types.FLOAT8)


def are_constant(*values: Value) -> bool:
    """True if values are fixed at compile time."""
    return all(isinstance(value, Constant) for value in values)


def _only(value: Value, dtypes: types.Dtypes) -> Value:
    """`value` as far as its dtypes are allowed."""
    if not isinstance(value, Tensor):
        return value
    return derived(value.dtypes & dtypes, value.rank, value)
