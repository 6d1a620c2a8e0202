"""Arrays and scalars of NumPy: their dtype, where what makes them says it."""

from __future__ import annotations

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    Constant,
    NonTensor,
    Sequence,
    Symbol,
    Value,
)
from precision_lint.facts.dtypes.operators import array_results
from precision_lint.facts.dtypes.syntax.sources import NUMPY_DTYPES
from precision_lint.model.dtypes import INT64

_ALIASES = {
    "bool_": "bool", "double": "float64", "single": "float32", "half": "float16", "intp": INT64,
}  # fmt: skip
_SCALARS = NUMPY_DTYPES | _ALIASES.keys()
_FLOATING = {"zeros": 1, "ones": 1, "empty": 1, "eye": 3, "linspace": 5}
"""What creates float64 by default, and the position of its `dtype`."""
_FROM_DATA = {"array": 1, "asarray": 1, "ascontiguousarray": 1, "full": 2, "frombuffer": 1}


def made(name: str, given: CallSite) -> NonTensor:
    """What a function of NumPy gives; `name` is its name in the package."""
    if name in _SCALARS:
        return NonTensor(frozenset({_ALIASES.get(name, name)}), _is_number(given.first))
    if name == "arange":
        return _arange(given)
    position = _FLOATING.get(name, _FROM_DATA.get(name))
    if position is None:
        return array_results.of_function(name, given)
    is_scalar = None if name in _FROM_DATA else given.first == Sequence(BOTTOM, ())
    dtype = _given(given, position)
    if dtype is not None:
        return NonTensor(dtype, is_scalar)
    if name in _FLOATING:
        return NonTensor(frozenset({"float64"}), is_scalar)
    return NON_TENSOR if name in {"full", "frombuffer"} else array_results.of_data(given.first)


def method(receiver: NonTensor, name: str, given: CallSite) -> NonTensor:
    """What a method of an array gives."""
    if name == "astype":
        return NonTensor(_dtypes(given.argument(0, "dtype")), receiver.scalar)
    return array_results.of_method(receiver, name, given)


def _is_number(value: Value) -> bool | None:
    return True if isinstance(value, Constant) else None


def _given(given: CallSite, position: int) -> frozenset[str] | None:
    """The dtypes that the `dtype` argument of a call names; None without that argument."""
    has_stars = "**" in given.keywords or any(one.starred for one in given.arguments)
    is_told = "dtype" in given.keywords or len(given.arguments) > position
    return _dtypes(given.argument(position, "dtype")) if is_told or has_stars else None


def _dtypes(value: Value) -> frozenset[str]:
    """What a value that stands for a dtype of NumPy names; nothing if that is not known."""
    match value:
        case Symbol(name=name) if name.startswith("numpy."):
            last = name.removeprefix("numpy.")
        case Constant(value=str(last)):
            pass
        case _:
            return frozenset()
    return frozenset({_ALIASES.get(last, last)}) if last in _SCALARS else frozenset()


def _arange(given: CallSite) -> NonTensor:
    dtype = _given(given, 3)
    if dtype is not None:
        return NonTensor(dtype, False)
    kinds = {value.kind if isinstance(value, Constant) else None for value in given.values}
    if kinds <= {int}:
        return NonTensor(frozenset({INT64}), False)
    return NonTensor(frozenset({"float64"}), False) if float in kinds else NonTensor(scalar=False)
