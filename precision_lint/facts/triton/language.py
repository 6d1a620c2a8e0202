"""A version of Triton's language: what its operators and conversions do to types."""

from __future__ import annotations

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.dtypes import Dtypes
from precision_lint.facts.triton.refusals import CompileErrors
from precision_lint.facts.triton.usage import Usage
from precision_lint.facts.triton.values import (
    NUMBER_NOT_KNOWN,
    UNKNOWN,
    Constant,
    Tensor,
    TypeRef,
    Value,
    broadcast,
    derived,
)
from precision_lint.model.frozen import frozen

Version = tuple[int, int]
NEWEST: Version = (3, 9)
_WEAK_NUMBERS: Version = (3, 2)
_WIDE_QUOTIENTS: Version = (3, 9)
"""Since then quotients of float8 are float32, too."""


@frozen
class Language:
    """A version of Triton, and where uses of values and what it refuses are noted."""

    version: Version
    usage: Usage
    refusals: CompileErrors

    def binary(self, left: Value, right: Value, division: bool = False) -> Value:
        """An operator on two numbers; pointers are the caller's business."""
        match left, right:
            case Constant(), Constant():
                return NUMBER_NOT_KNOWN
            case (Tensor() as tensor, Constant() as number) | (
                Constant() as number,
                Tensor() as tensor,
            ):
                kinds = number_dtypes(number)
                strong = self.version < _WEAK_NUMBERS
                rule = types.combine if strong else types.combine_with_number
                division &= self._divides_in_float32(tensor, tensor)
                return derived(rule(tensor.dtypes, kinds, division), tensor.rank, left, right)
            case Tensor(), Tensor():
                self.usage.meet(left, right)
                division &= self._divides_in_float32(left, right)
                found = types.combine(left.dtypes, right.dtypes, division)
                return derived(found, broadcast(left, right), left, right)
        return UNKNOWN

    def _divides_in_float32(self, left: Tensor, right: Tensor) -> bool:
        return self.version >= _WIDE_QUOTIENTS or not left.dtypes | right.dtypes <= types.FLOAT8

    def halves_promote(self, found: Value, before: Version) -> Value:
        """bf16 results as fp32 in versions before the one that stopped to promote them."""
        if isinstance(found, Tensor) and self.version < before:
            return derived(types.widened(found.dtypes, frozenset({"bf16"})), found.rank, found)
        return found


def number_dtypes(number: Constant) -> Dtypes:
    """The dtype that a compile-time value has as a number; all that a number has if unknown."""
    if number.is_known:
        return types.of_number(number.value)
    return number.dtypes or types.NUMBER | types.BOOL


def as_tensor(value: Value) -> Value:
    """A compile-time number as the tensor that Triton makes of it; anything else as it is."""
    match value:
        case Constant(is_known=True) if dtypes := types.of_number(value.value):
            return Tensor(dtypes, 0)
        case Constant(is_number=True):
            return Tensor(number_dtypes(value), 0)
        case Constant(is_known=False):
            return UNKNOWN
    return value


def dtype_of(value: Value | None) -> Dtypes:
    """The dtypes that a value given as `dtype` can stand for."""
    return value.dtypes if isinstance(value, TypeRef) and not value.is_pointer else types.ANY
