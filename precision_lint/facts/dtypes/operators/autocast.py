"""The regions that autocast opens, and what it makes of operands, as torch 2.13 does it."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite, Region
from precision_lint.facts.dtypes.domain.lattice import join, join_all, reading
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    ANONYMOUS,
    BOTTOM,
    SOME_DTYPE,
    AutocastContext,
    Clause,
    Constant,
    Dtype,
    LibraryObject,
    ModelOutput,
    OneOf,
    Tensor,
    Unknown,
    Value,
    Variable,
    clauses_of,
    some_tensor,
)
from precision_lint.facts.dtypes.libraries import parallel
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.operators.signature import Operator
from precision_lint.model.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOATING

_GENERIC = frozenset({"torch.autocast", "torch.amp.autocast"})
"""Called with a device, a dtype and `enabled`; the deprecated `torch.cuda.amp.autocast` with
`enabled` and a dtype."""

_ELIGIBLE = FLOATING - {"float64"}
"""What autocast casts; it leaves float64, integers and complex numbers alone."""
_SINGLE = Dtype(frozenset({FLOAT32}))


def opened(name: str, given: CallSite) -> AutocastContext:
    """The region that a call of `autocast` opens: torch's, or a method of a framework's object."""
    is_generic = name in _GENERIC or not name.startswith("torch.")
    device = "cpu" if name.startswith("torch.cpu") else "cuda"
    if is_generic:
        match given.find(0, "device_type"):
            case Argument(value=Constant(value=str(named))):
                device = named.partition(":")[0]
            case _:
                device = ""
    enabled = given.find(2 if is_generic else 0, "enabled")
    dtype = given.find(1, "dtype")
    known = _default_dtype(device, given) if dtype is None else _of_region(as_dtype(dtype.value))
    match enabled:
        case Argument(value=Constant(value=False)):
            return AutocastContext(device or None, None)
        case None | Argument(value=Constant(value=True)):
            return AutocastContext(device or None, known)
    return AutocastContext(device or None, replace(known, may_be_other=True))


def _of_region(dtype: Dtype) -> Dtype:
    """A dtype that is named for a region."""
    if dtype.origin is None or dtype.origin.kind != "dtype":
        return dtype
    return replace(dtype, origin=replace(dtype.origin, kind="autocast"))


def opened_by(framework: LibraryObject, given: CallSite) -> AutocastContext:
    """The region that `accelerator.autocast()` and its like open."""
    dtype = parallel.AUTOCAST.get(framework.name, {}).get(framework.precision)
    if dtype is None:
        return AutocastContext(None, SOME_DTYPE)
    origin = given.origin(f"autocast to {dtype} is entered here", "autocast")
    return AutocastContext(None, Dtype(frozenset({dtype}), origin=origin))


def region_of(context: AutocastContext) -> Region | None:
    """The region that is entered; None if it turns autocast off."""
    return None if context.dtype is None else Region(context.device, context.dtype)


def region_given(context: Variable) -> Region | None:
    """The region of a context that somebody else gives; None if that is too far to follow."""
    clauses = clauses_of(context.then(Step("region")))
    return Region(None, Dtype(may_be_other=True, clauses=clauses)) if clauses else None


def dtype_of(context: Value) -> Value:
    """The dtype of the region that a context opens; bottom if it opens none."""
    match reading(context):
        case AutocastContext(dtype=Dtype() as dtype):
            return dtype
        case OneOf(members=members):
            return join_all(map(dtype_of, members))
        case Variable() as variable:
            return variable.then(Step("region"))
    return BOTTOM


def _default_dtype(device: str, given: CallSite) -> Dtype:
    """What autocast runs in where no dtype is given (torch 2.13): bfloat16 on CPU, XLA and HPU."""
    if not device:
        return SOME_DTYPE
    dtype = BFLOAT16 if device in _IN_BFLOAT16 else FLOAT16
    origin = given.origin(f"autocast to {dtype}, the default, is entered here", "autocast")
    return Dtype(frozenset({dtype}), origin=origin)


_IN_BFLOAT16 = frozenset({"cpu", "xla", "hpu"})


def cast(operand: Value, row: Operator, region: Region | None) -> Value:
    """An operand as the operator gets it inside of a region.

    An object of which nothing is known is a tensor: the operators that autocast casts for take
    nothing else.
    """
    if region is None:
        return operand
    given = some_tensor(operand) if isinstance(operand, Unknown) else operand
    if not isinstance(given, Tensor):
        return operand
    match row.cpu if region.device == "cpu" else row.cuda:
        case "float32":
            result = _cast_to(given, _SINGLE)
            given = _tensor_outside(given, region)
        case "lower":
            result = _cast_to(given, region.dtype)
        case _:
            return operand
    # Of a region whose dtype is unknown we do not know that it is on either.
    is_certain = region.dtype.dtypes or region.dtype.caller_chosen
    return result if is_certain else join(given, result)


def outside(value: Value, region: Region) -> Value:
    """A value as it is if a given region is off."""
    match value:
        case Variable():
            return value.then(_step_outside(region))
        case Tensor():
            return _tensor_outside(value, region)
        case ModelOutput(tensor=tensor):
            return ModelOutput(_tensor_outside(tensor, region))
    return value


def _tensor_outside(tensor: Tensor, region: Region) -> Tensor:
    if not region.dtype.clauses:
        return tensor
    step = _step_outside(region)
    return replace(tensor, clauses=frozenset(_after(clause, step) for clause in tensor.clauses))


def _step_outside(region: Region) -> Step:
    return Step("outside", operand=region.dtype, region=region.of_step)


def _after(clause: Clause, step: Step) -> Clause:
    """A clause whose terms take a step; what is too far to follow is not known."""
    after = [one if isinstance(one, str) else one.then(step) for one in clause]
    return ANONYMOUS if None in after else frozenset(filter(None, after))


def _cast_to(operand: Tensor, target: Dtype) -> Tensor:
    if not (operand.dtypes & _ELIGIBLE or operand.caller_chosen or operand.may_be_other):
        return operand
    return replace(
        operand,
        dtypes=(operand.dtypes - _ELIGIBLE) | target.dtypes,
        # autocast takes no dtype but floating ones: one that is not known is still one of them
        caller_chosen=target.caller_chosen or target.may_be_other,
        origin=target.origin or operand.origin,
        clauses=target.clauses,
    )
