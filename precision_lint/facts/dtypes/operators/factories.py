"""Tensors from nothing, from numbers and from Python data: `torch.zeros`, `torch.tensor` …"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    SOME_TENSOR,
    Bottom,
    Constant,
    ModelOutput,
    NonTensor,
    Sequence,
    Tensor,
    Value,
    tensor,
)
from precision_lint.facts.dtypes.operators.conversions import TENSOR_TYPES, dtype_argument
from precision_lint.facts.dtypes.operators.kinds import complex_of
from precision_lint.facts.dtypes.operators.promotion import INTEGRAL, promote
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.model.dtypes import BOOL, INT64

_FROM_DATA = frozenset({"tensor", "as_tensor", "asarray", "scalar_tensor"})
_FROM_ARRAYS = frozenset({"from_numpy", "frombuffer"})
_INDICES = frozenset({"randint", "randperm", "tril_indices", "triu_indices"})
_NAMES = _FROM_DATA | _FROM_ARRAYS | _INDICES | sources.FLOAT_FACTORIES | TENSOR_TYPES.keys()
FACTORIES = _NAMES | {"arange", "full", "normal", "from_dlpack", "empty_strided", "range"}
"""Functions of torch that `new` knows, by their last name."""


def new(name: str, given: CallSite) -> Tensor:
    """The tensor that a factory makes."""
    if name in TENSOR_TYPES:
        return tensor(given.default_dtype if name == "Tensor" else TENSOR_TYPES[name])
    if "out" in given.keywords and isinstance(out := given.keywords["out"].value, Tensor):
        return out
    made = _dtype(name, given)
    chosen = dtype_argument(given)
    return made if chosen is None else replace(chosen.of_tensor(), scalar=made.scalar)


def _dtype(name: str, given: CallSite) -> Tensor:
    """The tensor without `dtype=`."""
    if name in _FROM_DATA:
        return _of_data(given.first, given.default_dtype)
    if name in _FROM_ARRAYS:
        return _of_array(given.first)
    if name == "from_dlpack":
        return SOME_TENSOR
    scalar = _is_scalar_shape(given)
    if name in _INDICES:
        return tensor(INT64, scalar=scalar)
    if name == "arange":
        return _arange(given)
    if name == "full":
        fill = given.find(1, "fill_value")
        value = SOME_TENSOR if fill is None else fill.value
        return replace(_of_number(value, given.default_dtype), scalar=scalar)
    if name == "normal" and any(isinstance(value, Tensor) for value in given.values[:2]):
        return promote([v for v in given.values[:2] if isinstance(v, Tensor)])
    return tensor(given.default_dtype, scalar=scalar)


def _is_scalar_shape(given: CallSite) -> bool:
    """True for `torch.zeros(())`: a literal shape of no dimension."""
    shape = given.find(0, "size")
    return shape is not None and shape.value == Sequence(BOTTOM, ())


def _arange(given: CallSite) -> Tensor:
    """Integers, or the default dtype if any bound or the step is floating."""
    bounds = [*given.values, *(given.keywords[k].value for k in _BOUNDS & given.keywords.keys())]
    numbers = [_of_number(value, given.default_dtype) for value in bounds]
    dtypes = frozenset[str]().union(*(number.dtypes for number in numbers))
    if any(number.must_be(frozenset({given.default_dtype})) for number in numbers):
        return tensor(given.default_dtype)
    return Tensor((dtypes - INTEGRAL) | {INT64})


_BOUNDS = frozenset({"start", "end", "step"})


def _of_number(value: Value, default: str) -> Tensor:
    """The dtype that a number gives a tensor: int64, bool or the default dtype."""
    match value:
        case Constant(value=bool()):
            return tensor(BOOL)
        case Constant(value=int()):
            return tensor(INT64)
        case Constant(value=float()):
            return tensor(default)
        case Constant(value=complex()):
            return tensor(complex_of(default))
        case Tensor() if value.must_be(INTEGRAL):
            return tensor(*({BOOL} & value.dtypes), *({INT64} if value.dtypes - {BOOL} else ()))
    return Tensor(frozenset({BOOL, INT64, default}))


def _of_data(data: Value, default: str) -> Tensor:
    """The dtype of Python data: that of its tensors and arrays, else that of its numbers."""
    data = reading(data)
    match data:
        case Tensor():
            return data
        case ModelOutput():
            return data.tensor
        case Constant(value=bool() | int() | float() | complex()):
            return replace(_of_number(data, default), scalar=True)
        case NonTensor():
            made = replace(_of_array(data), scalar=data.scalar)
            # `math.sqrt(3)` becomes the default dtype, `np.sqrt(3)` stays float64.
            is_either = data.scalar and "float64" in data.dtypes
            return replace(made, dtypes=made.dtypes | {default}) if is_either else made
        case Sequence(items=None, item=Bottom()) | Sequence(items=()):
            return tensor(default)
        case Sequence():
            items = (data.item,) if data.items is None else data.items
            elements = [replace(_of_data(item, default), scalar=False) for item in items]
            return replace(reduce(_promoted, elements), scalar=False)
    return replace(SOME_TENSOR, scalar=None)


def _of_array(data: Value) -> Tensor:
    """The tensor that an array of NumPy becomes: of the same dtype."""
    if not isinstance(data, NonTensor):
        return Tensor(sources.NUMPY_DTYPES)
    return Tensor(data.dtypes or sources.NUMPY_DTYPES, scalar=bool(data.scalar))


def _promoted(one: Tensor, other: Tensor) -> Tensor:
    return promote([one, other])
