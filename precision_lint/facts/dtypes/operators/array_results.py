"""The dtype that functions, methods and operators of NumPy give, for arrays whose dtype is known.

Measured with NumPy 2.4 (`tests/facts/dtypes/test_arrays.py` runs it). Python numbers do not widen
arrays, in NumPy 1 nor in NumPy 2; what they make of scalars differs between the two, and is not
said here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    Bottom,
    Constant,
    ModelOutput,
    NonTensor,
    Sequence,
    Tensor,
    Value,
)
from precision_lint.model.dtypes import FLOAT8, FLOAT16, FLOAT32

_FLOATS = frozenset({FLOAT16, FLOAT32, "float64"})
_LACKING = FLOAT8 | {"bfloat16", "complex32"}
"""What torch does not convert to arrays."""

_SHAPING = frozenset(
    """
    asanyarray asarray ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d
    broadcast_to copy diag diagonal expand_dims flatten flip fliplr flipud moveaxis ravel repeat
    reshape roll rot90 sort squeeze swapaxes take tile transpose tril triu zeros_like
    ones_like empty_like
    """.split()
)
"""What gives the items that it is given, in another order or shape, or as many others."""
_ELEMENTWISE = frozenset(
    """
    abs absolute arctan around cbrt ceil conj cos cosh cumprod cumsum degrees diff exp exp2 expm1
    fabs floor log log10 log1p log2 nan_to_num negative positive radians reciprocal rint round sign
    sin sinh sqrt square tan tanh trunc
    """.split()
)
_REDUCING = frozenset(
    """
    amax amin max mean median min nanmax nanmean nanmedian nanmin nanstd nansum nanvar prod std sum
    trace var
    """.split()
)
"""What gives a scalar, or an array where it is given an axis."""
_JOINING = frozenset("column_stack concatenate dstack hstack stack vstack".split())
_OPERATORS = {
    "add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "divide": ast.Div,
    "true_divide": ast.Div, "power": ast.Pow, "maximum": ast.Add, "minimum": ast.Add,
    "matmul": ast.MatMult, "dot": ast.MatMult,
}  # fmt: skip
_KEEPING = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult,
)  # fmt: skip
_LARGEST = 65504
"""Of a larger number, NumPy 1 would widen float16."""
_CHANGING = frozenset({"out", "dtype", "weights", "casting", "**"})
"""Arguments that choose the dtype of a result."""


def of_tensor(value: Tensor) -> NonTensor:
    """The array that `t.numpy()` gives; unknown where a dtype that NumPy lacks may raise."""
    if value.is_open or not value.dtypes or value.dtypes & _LACKING:
        return NON_TENSOR
    return NonTensor(value.dtypes, None if value.scalar is not False else False)


def of_data(value: Value) -> NonTensor:
    """The array that `np.asarray` makes of an array, a tensor, or a list of arrays."""
    match value:
        case NonTensor():
            return value
        case Tensor() | ModelOutput():
            return as_array(value)
        case Sequence(item=item, items=items):
            return _common(items or (item,))
    return NON_TENSOR


def as_array(value: Value) -> NonTensor:
    """An array or a tensor as the array that a function of NumPy takes it for."""
    match value:
        case NonTensor():
            return value
        case ModelOutput(tensor=tensor) | (Tensor() as tensor):
            return of_tensor(tensor)
    return NON_TENSOR


def of_function(name: str, given: CallSite) -> NonTensor:
    """What a function of NumPy gives for its arguments; without a dtype where it is not known."""
    if given.keywords.keys() & _CHANGING or any(one.starred for one in given.arguments):
        return NON_TENSOR
    first = given.first
    if name in _JOINING and isinstance(first, Sequence):
        arrays = [as_array(one) for one in first.items or (first.item,)]
        return replace(_common(arrays), scalar=False)
    if name in _OPERATORS and len(given.arguments) == 2:
        return operated(first, given.arguments[1].value, _OPERATORS[name])
    if not isinstance(first, NonTensor):
        return NON_TENSOR  # of a tensor, most functions call its own method
    return _result(name, first, given, 1)


def of_method(receiver: NonTensor, name: str, given: CallSite) -> NonTensor:
    """What a method of an array gives, but for `astype`."""
    if given.keywords.keys() & _CHANGING:
        return NON_TENSOR
    return _result(name, receiver, given, 0)


def _result(name: str, array: NonTensor, given: CallSite, position: int) -> NonTensor:
    """What a function or method gives; `position` is that of its first argument after the array."""
    if name in _SHAPING:
        return NonTensor(array.dtypes, array.scalar if name in {"copy", "squeeze"} else False)
    if not array.dtypes <= _FLOATS:
        return NON_TENSOR
    further = given.arguments[position:]
    if name in _ELEMENTWISE:
        return array
    if name in _REDUCING and len(further) < 2:
        axis = given.find(position, "axis")
        is_whole = axis is None or axis.value == Constant(None)
        return NonTensor(
            array.dtypes, True if is_whole and "keepdims" not in given.keywords else None
        )
    if name == "clip":
        limits = [one.value for one in (*further, *given.keywords.values())]
        return array if all(map(_is_weak, limits)) else NON_TENSOR
    return NON_TENSOR


def operated(left: Value, right: Value, op: type[ast.operator]) -> NonTensor:
    """What an operator gives for two arrays, or for an array and a number."""
    if op not in _KEEPING:
        return NON_TENSOR
    match left, right:
        case NonTensor(dtypes=one), NonTensor(dtypes=other) if len(one) == 1 and one == other:
            is_scalar = left.scalar if left.scalar == right.scalar else None
            return NonTensor(one, is_scalar) if one <= _FLOATS else NON_TENSOR
        case (NonTensor() as array, Constant() as number) | (
            Constant() as number,
            NonTensor() as array,
        ):
            is_kept = array.scalar is False and array.dtypes <= _FLOATS and _is_weak(number)
            return array if is_kept else NON_TENSOR
    return NON_TENSOR


def item(array: NonTensor, index: Value, node: ast.expr) -> NonTensor:
    """An item of an array: a scalar or an array, if it is not a slice."""
    if isinstance(index, Constant) and isinstance(index.value, str):
        return NON_TENSOR  # a field of a record, a column
    return NonTensor(array.dtypes, False if isinstance(node, ast.Slice) else None)


def _is_weak(value: Value) -> bool:
    """True for a number of Python that float16 holds, and for None."""
    match value:
        case Constant(value=None):
            return True
        case Constant(value=int() | float() as number):
            return abs(number) <= _LARGEST
    return False


def _common(values: Iterable[Value]) -> NonTensor:
    """An array of what all have one dtype that is known."""
    dtypes = {
        value.dtypes if isinstance(value, NonTensor) else frozenset[str]()
        for value in values
        if not isinstance(value, Bottom)
    }
    only = dtypes.pop() if len(dtypes) == 1 else frozenset[str]()
    return NonTensor(only, False) if len(only) == 1 else NON_TENSOR
