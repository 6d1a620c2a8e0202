"""What callers, classes and other files may still say of a value."""

from __future__ import annotations

from precision_lint.facts.dtypes.domain.values import (
    Bottom,
    Dictionary,
    Dtype,
    FunctionValue,
    Instance,
    ModelOutput,
    OneOf,
    Partial,
    Sequence,
    Tensor,
    Value,
)
from precision_lint.model.dtypes import HALF


def may_be_half(value: Value) -> bool:
    """True if a value that is not unknown can have to do with half precision."""
    match value:
        case Tensor():
            return value.may_be_other or value.caller_chosen or bool(value.dtypes & HALF)
        case (
            ModelOutput() | Dtype() | Instance() | OneOf() | Partial() | FunctionValue() | Bottom()
        ):
            return True
        case Sequence(item=item) | Dictionary(item=item):
            return may_be_half(item)
    return False
