"""What an operator of the measured tables makes of its arguments."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.lattice import join_all, join_tensors
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    SOME_TENSOR,
    UNKNOWN,
    Constant,
    Sequence,
    Tensor,
    Unknown,
    Value,
    some_tensor,
)
from precision_lint.facts.dtypes.operators.autocast import cast
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.operators.kinds import result_dtype
from precision_lint.facts.dtypes.operators.promotion import (
    agreed,
    as_tensor,
    contracted,
    promote,
    scalar_of,
)
from precision_lint.facts.dtypes.operators.signature import Operator
from precision_lint.model.dtypes import DTYPES

_MOST_OPERANDS = 8
"""Items of a list that are promoted one by one."""


def result(row: Operator, given: CallSite, *, agreeing: bool = False) -> Value:
    """The value of a call of an operator; the receiver of a method is its first argument.

    `agreeing` says that the operator needs operands of one dtype.
    """
    if row.result == "python":
        return NON_TENSOR
    if "out" in given.keywords and isinstance(out := given.keywords["out"].value, Tensor):
        return out
    scalar = _scalar(row, given)
    dtype = given.find(row.dtype, "dtype") or given.keywords.get("out_dtype")
    if dtype is not None and dtype.value != Constant(None):
        return replace(as_dtype(dtype.value).of_tensor(), scalar=scalar)
    operand = replace(_operand(row, given, agreeing=agreeing), scalar=scalar)
    return _packed(row.result, operand, given.default_dtype)


def _operand(row: Operator, given: CallSite, *, agreeing: bool) -> Tensor:
    """What the operands promote to, cast by autocast before that."""
    values: list[Value] = []
    for position, keyword in row.operands:
        if (operand := given.find(position, keyword)) is not None:
            values += items_of(operand.value)
    operands = [cast(value, row, given.autocast) for value in values or [SOME_TENSOR]]
    promoted = (agreeing and agreed(operands)) or promote(operands, given.default_dtype)
    return _composed(operands, promoted, given) if row.composed else promoted


def _composed(operands: list[Value], promoted: Tensor, given: CallSite) -> Tensor:
    """What operands promote to in one operation, or after others: expanded, or made floats."""
    result = promoted
    expanded = [replace(one, scalar=False) for one in operands if isinstance(one, Tensor)]
    floats = [result_dtype("float", one, given.default_dtype) for one in expanded]
    for other in (expanded, floats):
        if other:
            result = join_tensors(result, promote(other, given.default_dtype))
    return result


def items_of(value: Value) -> list[Value]:
    """The operands that an argument holds: itself, or the tensors of a list."""
    match as_tensor(value):
        case Sequence(items=tuple(items)) if 0 < len(items) <= _MOST_OPERANDS:
            return [_item(item) for item in items]
        case Sequence(item=Tensor() as item, head=head):
            of_others = min(3, len(item.dtypes) + item.caller_chosen + item.may_be_other)
            return [*map(_item, head[:_MOST_OPERANDS]), *[item] * of_others]
        case Sequence(item=item, head=head):
            return [*map(_item, head[:_MOST_OPERANDS]), _item(item)]
        case single:
            return [single]


def _item(value: Value) -> Value:
    """An item of a list of operands: never a number, which would leave the others as they are."""
    item = as_tensor(value)
    return some_tensor(item) if isinstance(item, Unknown) else item


def _packed(result: str, operand: Tensor, default: str) -> Value:
    """The tensor, tuple or list of tensors that the kind of a result says."""
    if result.startswith("["):
        return Sequence(replace(result_dtype(result[1:-1], operand, default), scalar=None))
    items = tuple(result_dtype(kind, operand, default) for kind in result.split(", "))
    return items[0] if len(items) == 1 else Sequence(join_all(items), items)


def _scalar(row: Operator, given: CallSite) -> bool | None:
    """Whether the result has no dimension."""
    match row.shape:
        case "reduces":
            return _is_reduced(row, given)
        case "drops":
            dim = given.find(row.dim, "dim")
            return _left_over(given, UNKNOWN if dim is None else dim.value)
        case "makes":
            return any(value == Sequence(BOTTOM, ()) for value in given.values)
    values = [*given.values, *(one.value for one in given.keywords.values())]
    tensors = [value for value in map(as_tensor, values) if isinstance(value, Tensor)]
    scalar = scalar_of(tensors) if tensors else False
    if row.shape == "contracts":
        return contracted(tensors)
    if scalar and any(isinstance(value, Unknown) for value in values):
        return None
    is_mixed = any(one.scalar for one in tensors)
    return None if is_mixed and not scalar and row.result in DTYPES else scalar


def _is_reduced(row: Operator, given: CallSite) -> bool | None:
    reduction = given.keywords.get("reduction")
    if reduction is not None:
        match reduction.value:
            case Constant(value=str(name)):
                return name != "none"
        return None
    dim = given.find(row.dim, "dim") or given.keywords.get("axis")
    if dim is None or dim.value == Constant(None):
        return None if "keepdim" in given.keywords else True
    return _left_over(given, dim.value)


def _left_over(given: CallSite, dim: Value) -> bool | None:
    """Whether there is no dimension beside `dim`: `dim=1` says that there is another one.

    With `keepdim=True` the result has as many as the operand.
    """
    operand = as_tensor(given.first)
    scalar = operand.scalar if isinstance(operand, Tensor) else None
    keepdim = given.keywords.get("keepdim")
    is_kept = keepdim is not None and keepdim.value == Constant(True)
    dims = dim.items or () if isinstance(dim, Sequence) else (dim,)
    least = 0
    for one in dims:
        match one:
            case Constant(value=int(position)):
                least = max(least, position + 1 if position >= 0 else -position)
    if scalar or least > (1 if is_kept else len(dims)):
        return bool(scalar)
    return scalar if is_kept else None
