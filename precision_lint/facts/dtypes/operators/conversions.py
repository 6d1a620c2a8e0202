"""Casts: `.to(…)`, `.type(…)`, `.bfloat16()`, and what names a dtype where one is wanted."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.lattice import join_dtypes, join_tensors
from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    SOME_DTYPE,
    UNKNOWN,
    Constant,
    Dtype,
    Model,
    ModelOutput,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    clauses_of,
    some_tensor,
)
from precision_lint.facts.dtypes.syntax.sources import DTYPE_NAME
from precision_lint.facts.origin import Choice, Setting
from precision_lint.model.dtypes import ALIASES, BFLOAT16, BOOL, FLOAT16, FLOAT32, HALF, INT64
from precision_lint.model.finding import Span
from precision_lint.model.regex import regex

_STRINGS = {**ALIASES, "bf16": BFLOAT16, "fp16": FLOAT16, "fp32": FLOAT32, "fp64": "float64"}
_STRINGS |= {f"torch.{name}": dtype for name, dtype in ALIASES.items()}

TENSOR_TYPES = {
    "FloatTensor": FLOAT32,
    "HalfTensor": FLOAT16,
    "BFloat16Tensor": BFLOAT16,
    "DoubleTensor": "float64",
    "LongTensor": INT64,
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": BOOL,
    "Tensor": FLOAT32,
}
"""The legacy classes of tensors; `Tensor` is that of the default dtype."""

CASTS = {
    "float": FLOAT32,
    "double": "float64",
    "half": FLOAT16,
    "bfloat16": BFLOAT16,
    "long": INT64,
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": BOOL,
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}
"""Methods that are casts."""

_DEVICE_NAME = regex(r"(?i)\bdev\b|device|cuda|cpu|gpu|rank|xpu|mps")
"""What code calls a device that it moves tensors to."""


def as_dtype(value: Value) -> Dtype:
    """A value read as a dtype: a `torch.dtype`, or what names one."""
    match value:
        case Dtype():
            return value
        case Constant(value=str(name)) if name in _STRINGS:
            return Dtype(frozenset({_STRINGS[name]}))
        case Setting(choices=choices) if choices:
            return reduce(join_dtypes, map(_of_choice, choices))
        case Variable():
            return Dtype(may_be_other=True, clauses=clauses_of(value))
    return SOME_DTYPE


def is_setting_of_dtype(setting: Setting) -> bool:
    """True if all values of a setting name dtypes, as `const=torch.bfloat16` of an option does."""
    return bool(setting.choices) and all(each.value in _STRINGS for each in setting.choices)


def _of_choice(choice: Choice) -> Dtype:
    name = _STRINGS.get(choice.value) if isinstance(choice.value, str) else None
    return SOME_DTYPE if name is None else configured(Dtype(frozenset({name})), choice)


def configured(dtype: Dtype, choice: Choice) -> Dtype:
    """A dtype that the configuration names: a half one is possible, for another run may say else.

    Any other is taken at its word, as who would have half precision has to say so; but for the
    default of a field: who makes the object gives what it says.
    """
    is_open = dtype.may_be_other or bool(dtype.dtypes & HALF) or bool(choice.of_field)
    return replace(dtype, may_be_other=is_open, origin=choice.origin)


def dtype_argument(given: CallSite) -> Dtype | None:
    """`dtype=`, if it is given and not None."""
    argument = given.keywords.get("dtype") or given.keywords.get("**")
    if argument is None or argument.value == Constant(None):
        return None
    return as_dtype(argument.value)


def is_conversion(name: str, given: CallSite) -> bool:
    """True for the methods that `converted` knows."""
    if name == "view":
        return "dtype" in given.keywords or any(isinstance(one, Dtype) for one in given.values)
    return name in CASTS or name in {"to", "type", "type_as"}


def converted(name: str, receiver: Value, given: CallSite) -> Value:
    """`x.to(…)` and its like: a tensor of another dtype, of the same dimensions."""
    if name == "type" and not given.arguments and not given.keywords:
        return NON_TENSOR
    target = _cast(name, given) if name in CASTS else _target(receiver, given)
    if name == "type_as" and isinstance(given.first, Unknown):
        target = _perhaps(receiver)
    if isinstance(receiver, Model):
        return receiver if target is None else replace(receiver, parameters=target)
    known = receiver.tensor if isinstance(receiver, ModelOutput) else receiver
    tensor = known if isinstance(known, Tensor) else some_tensor(receiver, scalar=None)
    return tensor if target is None else replace(target, scalar=tensor.scalar)


def _cast(name: str, given: CallSite) -> Tensor:
    span = Span(given.span.end - len(name), given.span.end)
    dtype = CASTS[name]
    origin = replace(given.origin(f"{dtype} is chosen here", "dtype"), span=span)
    return Tensor(frozenset({dtype}), origin=origin)


def _target(receiver: Value, given: CallSite) -> Tensor | None:
    """The dtype that `.to(…)` is given; None if it is given a device only."""
    if (dtype := dtype_argument(given)) is not None:
        if "dtype" in given.keywords:
            return dtype.of_tensor()
        return _perhaps(receiver)
    other = given.keywords.get("other")
    for argument in [*given.arguments, *([] if other is None else [other])]:
        match value := argument.value:
            case Dtype():
                return value.of_tensor()
            case Setting() if is_setting_of_dtype(value):
                return as_dtype(value).of_tensor()
            case Tensor():
                return value
            case ModelOutput():
                return value.tensor
            case Symbol(name=name) | Constant(value=str(name)):
                if (kind := TENSOR_TYPES.get(name.rpartition(".")[2])) is not None:
                    return Tensor(frozenset({kind}))
            # a device far more often, but for what is named as a dtype
            case Unknown() if DTYPE_NAME.search(given.source[argument.span]):
                return as_dtype(value).of_tensor()
    if any(argument.starred for argument in given.arguments):
        return _perhaps(receiver)
    # a dtype comes after a device
    if len(given.values) > 1 and isinstance(given.values[1], Unknown):
        return _perhaps(receiver)
    if given.arguments and _may_be_dtype(given.arguments[0], given):
        return _perhaps(receiver, given.arguments[0].value)
    return None


def _may_be_dtype(argument: Argument, given: CallSite) -> bool:
    """True for `x.to(resolve(name))`: most of what is not known is a device, and named as one."""
    text = given.source[argument.span]
    return isinstance(argument.value, Unknown | Variable) and _DEVICE_NAME.search(text) is None


def _perhaps(receiver: Value, dtype: Value = UNKNOWN) -> Tensor:
    """A tensor that may have been cast to a dtype that is not known, or only to callers."""
    if isinstance(receiver, Model):
        receiver = receiver.parameters
    if isinstance(receiver, Tensor):
        return join_tensors(receiver, some_tensor(dtype, scalar=receiver.scalar))
    return some_tensor(dtype)
