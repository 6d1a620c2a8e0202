"""Calls of operators whose operands need one dtype, and are given two.

Which operators these are was measured (`scripts/measure_kernels.py`). Nothing is said of operands
whose dtype is not known: two of the same symbol, `x` and `zeros(…, dtype=x.dtype)`, agree.
"""

from __future__ import annotations

from itertools import combinations

from precision_lint.facts.dtypes._generated.kernels import AGREEING
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import Condition, Constant, Sequence, Tensor, Value
from precision_lint.facts.dtypes.operators.einsum import multiplies_elements
from precision_lint.facts.dtypes.operators.operands import operand, operator, tensor_given
from precision_lint.facts.dtypes.operators.signature import Agreement
from precision_lint.model.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT64
from precision_lint.model.frozen import frozen

MEASURED = frozenset({BFLOAT16, FLOAT16, FLOAT32, "float64"})
"""The dtypes of which any two were tried."""

_SPELLED = {BFLOAT16: "BFloat16", FLOAT16: "Half", FLOAT32: "Float", "float64": "Double"}
IN_C = {BFLOAT16: "c10::BFloat16", FLOAT16: "c10::Half", FLOAT32: "float", "float64": "double"}
"""What messages of torch call the dtypes."""

_INDEX = frozenset({BOOL, INT64, "int32", "uint8"})
_DEVICES = frozenset({"cpu", "cuda"})
_EINSUM = Agreement(
    operands=((1, "operands"), (2, "operands")),
    message="RuntimeError: expected m1 and m2 to have the same dtype, but got: {first} != {second}",
)
"""Of `torch.einsum`, which takes any number of operands (torch 2.13)."""


@frozen
class Operand:
    """An operand: the argument, and the dtypes that it can have."""

    argument: Argument
    tensor: Tensor


@frozen
class Disagreement:
    """Two operands that need one dtype and have different ones.

    `is_proved` says that no others are possible; else one of them is decided, and the other one
    can have the dtype that stands in the message.
    """

    operator: str
    first: Operand
    second: Operand
    dtypes: tuple[str, str]
    message: str
    """What torch says, with the dtypes left open."""
    is_proved: bool
    may_be_scalar: bool
    """True if the second operand may have no dimension, so that a mask casts it."""

    @property
    def error(self) -> str:
        """The error that torch raises."""
        first, second = self.dtypes
        return self.message.format(
            first=IN_C[first], First=_SPELLED[first], second=IN_C[second], Second=_SPELLED[second]
        )


def may_disagree(call: Call) -> bool:
    """True if the body of a call knows a dtype of one of its operands.

    Where it knows none, callers would have to give two different dtypes.
    """
    given: list[Value] = [call.receiver, *(one.value for one in call.arguments)]
    given += [one.value for one in call.keywords.values()]
    row = AGREEING.get(operator(call) or "")
    if row is not None:
        operands = [operand(call, *place) for place in row.operands]
        given = [one.value for one in operands if one is not None]
    return len(given) > 1 and any(
        isinstance(value, Tensor) and bool(value.dtypes) and value.dtypes <= MEASURED
        for value in given
    )


def disagreement(call: Call) -> Disagreement | None:
    """The first two operands of a call that certainly, or possibly, have two dtypes."""
    name = operator(call)
    row = _of_einsum(call) if name == "einsum" else AGREEING.get(name or "")
    if name is None or row is None or not _raises_in_region(call, row.in_regions):
        return None
    if "out_dtype" in call.keywords:  # of products on a GPU: the bias is in that dtype
        return None
    if name == "__setitem__" and not _is_advanced(call.arguments[0].value):
        return None
    if name == "__setattr__" and call.arguments[0].value != Constant("grad"):
        return None
    operands = [
        Operand(given, tensor)
        for position, keyword in row.operands
        if (given := operand(call, position, keyword)) is not None
        and (tensor := tensor_given(given)) is not None
        and _is_floating(tensor)
    ]
    for first, second in combinations(operands, 2):
        is_proved = first.tensor.must_be(MEASURED) and second.tensor.must_be(MEASURED)
        dtypes = _different(first.tensor, second.tensor)
        if dtypes is not None:
            may_be_scalar = name == "__setitem__" and second.tensor.scalar is None
            return Disagreement(name, first, second, dtypes, row.message, is_proved, may_be_scalar)
    return None


def _of_einsum(call: Call) -> Agreement | None:
    """What the equation asks of two operands: it is computed by `bmm`, unless it sums nothing."""
    match [*call.arguments]:
        case [Argument(value=Constant(value=str(equation))), _, _] if not multiplies_elements(
            equation
        ):
            return _EINSUM
    return None


def _raises_in_region(call: Call, devices: tuple[str, ...]) -> bool:
    if call.autocast is None:
        return True
    device = call.autocast.device
    return {*devices} >= ({device} if device in _DEVICES else _DEVICES)


def _is_floating(tensor: Tensor) -> bool:
    """True for a tensor with dimensions whose dtypes, as far as they are known, were measured."""
    return bool(tensor.dtypes) and tensor.dtypes <= MEASURED and tensor.scalar is not True


def _different(first: Tensor, second: Tensor) -> tuple[str, str] | None:
    """Two dtypes that the tensors can have at once; None if they may agree whatever they are.

    Both are decided, or one is, and what is known of the other one excludes it.
    """
    if first.dtypes & second.dtypes or (first.is_open and second.is_open):
        return None
    decided, other = (second, first) if first.is_open else (first, second)
    if len(decided.dtypes) > 1 and other.is_open:
        return None
    return min(first.dtypes), min(second.dtypes)


def _is_advanced(index: Value) -> bool:
    """True for an index that writes with `index_put_`: tensors, masks and lists.

    Numbers, slices, and tensors of no dimension copy, and copies cast.
    """
    match index:
        case Condition():  # of what is not known to be a tensor: nobody writes `x[True] = y`
            return True
        case Tensor(scalar=False):
            return index.must_be(_INDEX)
        case Sequence(items=tuple(items)):
            return any(isinstance(one, Tensor | Condition) and _is_advanced(one) for one in items)
    return False
