"""What calls give: functions of torch, methods of tensors, builtins."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.dtypes import sources
from precision_lint.dtypes.calls import Argument, Given
from precision_lint.dtypes.operators import AUTOCAST_FLOAT32, AUTOCAST_LOWER, RESULT
from precision_lint.dtypes.promotion import INTEGRAL, divided, operator, promote, with_scalar
from precision_lint.dtypes.values import (
    BOOL,
    DTYPES,
    FLOAT32,
    FOREIGN,
    INT64,
    SOME_DTYPE,
    SOME_TENSOR,
    UNKNOWN,
    Condition,
    Constant,
    Dictionary,
    Dtype,
    Foreign,
    Origin,
    Sequence,
    Symbol,
    Tensor,
    Value,
    chosen,
    item_of,
    join_all,
    tensor,
)
from precision_lint.finding import Span

_STRING_DTYPES = {**{name: name for name in DTYPES}, "bf16": "bfloat16", "fp16": "float16"}
_STRING_DTYPES |= {"fp32": "float32", "half": "float16", "float": "float32"}
TENSOR_TYPES = {"FloatTensor": FLOAT32, "HalfTensor": "float16", "BFloat16Tensor": "bfloat16"}
TENSOR_TYPES |= {"LongTensor": INT64, "IntTensor": "int32", "DoubleTensor": "float64"}
TENSOR_TYPES |= {"BoolTensor": BOOL, "ByteTensor": "uint8", "Tensor": FLOAT32}
_JOINING = frozenset({"cat", "stack", "hstack", "vstack", "dstack", "concat", "concatenate"})
_PROMOTING = frozenset(
    {"maximum", "minimum", "add", "sub", "mul", "div", "mse_loss", "l1_loss", "smooth_l1_loss"}
)
"""Functions whose result has the promoted dtype of their first two arguments."""
_WITH_INDICES = frozenset({"max", "min", "sort", "topk", "kthvalue", "mode", "cummax"})
_CASTS = frozenset({"float", "double", "half", "bfloat16", "long", "int", "short", "byte", "bool"})
_ITERATING = frozenset({"list", "tuple", "sorted", "reversed", "iter", "set"})
_FUNCTIONAL = ("torch.nn.functional.", "torch.special.", "torch.")
_OF_THE_MODEL = "parameters have the model's dtype"


def as_dtype(value: Value) -> Dtype:
    """A value read as a dtype: a `torch.dtype`, or a string that names one."""
    match value:
        case Dtype():
            return value
        case Constant(value=str(name)) if name in _STRING_DTYPES:
            return Dtype(frozenset({_STRING_DTYPES[name]}))
    return SOME_DTYPE


def dtype_argument(given: Given) -> Dtype | None:
    """`dtype=`, if it is given."""
    return as_dtype(given.keywords["dtype"].value) if "dtype" in given.keywords else None


def builtin(name: str, given: Given) -> Value:
    """The result of a builtin function."""
    match name, given.values:
        case (("int" | "float" | "len" | "bool" | "str" | "round" | "hash" | "range"), _):
            return FOREIGN
        case "enumerate", [iterable, *_]:
            return Sequence(Sequence(UNKNOWN, (FOREIGN, item_of(iterable))))
        case "zip", [_, *_]:
            items = tuple(map(item_of, given.values))
            return Sequence(Sequence(join_all(items), items))
        case _, [iterable, *_] if name in _ITERATING:
            return Sequence(item_of(iterable))
        case (("sum" | "max" | "min"), [iterable]):
            item = item_of(iterable)
            return item if isinstance(item, Tensor) else UNKNOWN
        case "getattr", [Symbol(name="torch"), *_]:
            return SOME_DTYPE
    return UNKNOWN


def function(name: str, given: Given) -> Value:
    """The result of a function by its qualified name."""
    if name.partition(".")[0] in sources.FOREIGN_PACKAGES:
        return FOREIGN
    if not name.startswith("torch."):
        return UNKNOWN
    last, first, dtype = name.rpartition(".")[2], given.first, dtype_argument(given)
    if last in TENSOR_TYPES:
        return tensor(TENSOR_TYPES[last])
    if last in {"from_numpy", "frombuffer"}:
        return Tensor(sources.NUMPY_DTYPES)
    if last in {"tensor", "as_tensor", "asarray", "scalar_tensor", "full"}:
        return _from_data(last, given)
    if last in sources.FLOAT_FACTORIES:
        return dtype.of_tensor() if dtype is not None else tensor(FLOAT32)
    if last in sources.INTEGER_FACTORIES:
        return dtype.of_tensor() if dtype is not None else _arange(last, given)
    if last == "where":
        return _where(given)
    if last in _JOINING:
        item = item_of(first)
        return item if isinstance(item, Tensor) else SOME_TENSOR
    if last in _WITH_INDICES:
        return _with_indices(last, first, given.values[1:], given.keywords)
    if last in _PROMOTING and isinstance(first, Tensor) and len(given.arguments) > 1:
        second = given.arguments[1].value
        first = promote(first, second) if isinstance(second, Tensor) else first
    if name.startswith(_FUNCTIONAL) and last in RESULT:
        return _result(last, first, given)
    return UNKNOWN


def method(name: str, receiver: Value, given: Given) -> Value:
    """The result of a method; `given.span` ends with its name."""
    match receiver:
        case Foreign() | Constant():
            return FOREIGN
        case Dictionary() if name in {"items", "values", "keys", "get", "pop"}:
            return _of_dictionary(receiver, name)
        case Sequence() if name == "pop":
            return receiver.item
        case Sequence() | Dictionary() | Dtype() | Condition():
            return UNKNOWN
    if name in {"numpy", "asnumpy", "tolist", "item", "data_ptr"}:
        return FOREIGN
    if name in {"to", "type", "type_as"} or (
        name == "view" and any(isinstance(value, Dtype) for value in given.values)
    ):
        return _converted(receiver, given)
    if name in _CASTS:
        span = Span(given.span.end - len(name), given.span.end)
        return tensor(
            RESULT[name], origin=Origin(given.source, span, f"{RESULT[name]} is chosen here")
        )
    if name in {"cpu", "cuda", "detach", "contiguous", "clone"} and not given.arguments:
        return receiver if isinstance(receiver, Tensor) else SOME_TENSOR
    if isinstance(receiver, Tensor):
        return _tensor_method(name, receiver, given)
    parameter = chosen(given.origin(_OF_THE_MODEL))
    match name:
        case "parameters" | "buffers":
            return Sequence(parameter)
        case "named_parameters" | "named_buffers":
            return Sequence(Sequence(UNKNOWN, (FOREIGN, parameter)))
    return Dictionary(tensor(INT64)) if "return_tensors" in given.keywords else UNKNOWN


def _tensor_method(name: str, receiver: Tensor, given: Given) -> Value:
    if name in _WITH_INDICES:
        return _with_indices(name, receiver, given.values, given.keywords)
    if name in {"split", "chunk", "unbind", "tensor_split"}:
        return Sequence(receiver)
    if name.startswith("new_") and dtype_argument(given) is not None:
        return dtype_argument(given).of_tensor()
    if name.endswith("_") and not name.endswith("__"):
        return receiver  # in-place: the dtype stays
    if name in {"add", "sub", "mul", "div", "maximum", "minimum", "true_divide"}:
        op = ast.Div if name in {"div", "true_divide"} else ast.Add
        return operator(receiver, given.first, op)
    return _result(name, receiver, given)


def _result(name: str, operand: Value, given: Given) -> Value:
    """The result of an operator of the measured table."""
    if dtype_argument(given) is not None and name in RESULT:
        return dtype_argument(given).of_tensor()
    if given.autocast is not None and name in AUTOCAST_LOWER:
        return given.autocast.dtype.of_tensor()
    if given.autocast is not None and name in AUTOCAST_FLOAT32:
        return tensor(FLOAT32)
    source = operand if isinstance(operand, Tensor) else SOME_TENSOR
    match RESULT.get(name):
        case None:
            return SOME_TENSOR if isinstance(operand, Tensor) else UNKNOWN
        case "python":
            return FOREIGN
        case "same":
            return source
        case "sum":
            return tensor(INT64) if source.proved(INTEGRAL) else source
        case "float" if source == SOME_TENSOR:
            return chosen(given.origin(f"`{name}` keeps the floating dtype of its input"))
        case "float":
            return divided(source)
        case fixed:
            return tensor(fixed)


def _converted(receiver: Value, given: Given) -> Value:
    """`x.to(...)`: a dtype wherever it stands; devices keep the dtype."""
    if dtype_argument(given) is not None:
        return dtype_argument(given).of_tensor()
    for value in given.values:
        match value:
            case Dtype():
                return value.of_tensor()
            case Symbol(name=name) if name.startswith("torch."):
                kind = TENSOR_TYPES.get(name.rpartition(".")[2])
                return tensor(kind) if kind else SOME_TENSOR
            case Tensor():
                return value
    return receiver if isinstance(receiver, Tensor) else SOME_TENSOR


def _from_data(name: str, given: Given) -> Value:
    """`torch.tensor(data)` and its like: the dtype of the data, or float32 for Python floats."""
    if dtype_argument(given) is not None:
        return dtype_argument(given).of_tensor()
    position = 1 if name == "full" else 0
    match given.values[position] if len(given.values) > position else UNKNOWN:
        case Tensor() as data:
            return data
        case Constant(value=bool()):
            return tensor(BOOL)
        case Constant(value=int()) | Sequence(item=Constant(value=int())):
            return tensor(INT64)
        case Constant(value=float()):
            return tensor(FLOAT32)
        case Sequence(item=Tensor() as item):
            return item
    return Tensor(sources.NUMPY_DTYPES)  # Python numbers and arrays: no bfloat16 comes from there


def _arange(name: str, given: Given) -> Value:
    are_integers = all(
        isinstance(value, Constant) and isinstance(value.value, int) for value in given.values
    )
    return tensor(INT64) if name != "arange" or are_integers else tensor(INT64, FLOAT32)


def _where(given: Given) -> Value:
    match given.values:
        case [_]:
            return Sequence(tensor(INT64))
        case [_, Tensor() as left, Tensor() as right]:
            return promote(left, right)
        case [_, Tensor() as only, other] | [_, other, Tensor() as only]:
            return with_scalar(only, other)
    return SOME_TENSOR


def _with_indices(
    name: str, operand: Value, arguments: list[Value], keywords: Mapping[str, Argument]
) -> Value:
    """`max(dim)`, `topk` …: values in the operand's dtype beside int64 indices."""
    source = operand if isinstance(operand, Tensor) else SOME_TENSOR
    if name in {"max", "min"} and not arguments and "dim" not in keywords:
        return source
    if arguments and isinstance(arguments[0], Tensor):
        return promote(source, arguments[0])
    return Sequence(UNKNOWN, (source, tensor(INT64)))


def _of_dictionary(owner: Dictionary, name: str) -> Value:
    match name:
        case "items":
            return Sequence(Sequence(UNKNOWN, (FOREIGN, owner.item)))
        case "values":
            return Sequence(owner.item)
        case "keys":
            return Sequence(FOREIGN)
    return owner.item
