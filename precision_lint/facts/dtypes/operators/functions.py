"""What calls give: functions of torch, methods of tensors, builtins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from precision_lint.facts.dtypes._generated.kernels import AGREEING
from precision_lint.facts.dtypes._generated.operators import FUNCTIONS, METHODS
from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.containers import MOST_ENTRIES, item_of, updated
from precision_lint.facts.dtypes.domain.lattice import join, join_all
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    INTEGER,
    NON_TENSOR,
    SOME_DTYPE,
    SOME_TENSOR,
    UNKNOWN,
    Condition,
    Constant,
    Dictionary,
    Dtype,
    Model,
    ModelOutput,
    NonTensor,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    caller_chosen,
    some_tensor,
    tensor,
)
from precision_lint.facts.dtypes.operators import (
    array_results,
    arrays,
    factories,
    numbers,
    transfer,
)
from precision_lint.facts.dtypes.operators.conversions import (
    TENSOR_TYPES,
    as_dtype,
    converted,
    dtype_argument,
    is_conversion,
)
from precision_lint.facts.dtypes.operators.einsum import multiplies_elements
from precision_lint.facts.dtypes.operators.kinds import is_floating
from precision_lint.facts.dtypes.operators.promotion import is_tensor, promote
from precision_lint.facts.dtypes.operators.signature import Operator
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.model.dtypes import INT64

__all__ = ["TENSOR_TYPES", "as_dtype", "builtin", "function", "method"]

_ITERATING = frozenset({"list", "tuple", "sorted", "reversed", "iter", "set"})
_TO_PYTHON = frozenset({"numpy", "asnumpy", "tolist", "item", "data_ptr"})
_MOVES = frozenset({"cpu", "cuda", "detach", "contiguous", "clone"})
"""Methods that show that an unknown value is a tensor."""
_OF_THE_MODEL = "parameters have the model's dtype"
_TAKING = frozenset({"get", "get_nowait", "pop", "popleft", "result"})
"""Methods of lists, queues and futures that give one item."""
_OF_DICTIONARIES = frozenset({"items", "values", "keys", "get", "pop", "setdefault"})
_NO_TENSORS = frozenset({"device", "Size", "Generator", "layout", "cuda.current_device"})
"""Functions and classes of torch that give no tensor, and no dtype."""
_FLAGS = {"unique": (2, 3), "unique_consecutive": (1, 2)}
"""Where `return_inverse` and `return_counts` stand."""


def builtin(name: str, given: CallSite) -> Value:
    """The result of a builtin function."""
    match name, given.values:
        case (("int" | "len"), _):
            return INTEGER
        case "float", [number]:
            return numbers.to_float(number)
        case (("float" | "bool" | "str" | "round" | "hash"), _):
            return NON_TENSOR
        case "range", _:
            return Sequence(INTEGER)
        case "enumerate", [iterable, *_]:
            return Sequence(Sequence(UNKNOWN, (INTEGER, item_of(iterable))))
        case "zip", [_, *_]:
            items = tuple(map(item_of, given.values))
            return Sequence(Sequence(join_all(items), items))
        case (("list" | "tuple" | "set"), []):
            return Sequence(BOTTOM, ())
        case (("list" | "tuple" | "iter"), [Sequence() as copied]):
            return replace(copied)
        case _, [iterable, *_] if name in _ITERATING:
            return Sequence(item_of(iterable))
        case "next", [iterator, *rest]:
            return join_all([item_of(iterator), *rest])
        case "abs", [operand]:
            return method("abs", operand, replace(given, arguments=()))
        case "dict", [NonTensor(parsed=(_, *_)) as mapping] if not given.keywords:
            return mapping  # a part of a file
        case "dict", _:
            return _dictionary(given)
        case "sum", [Sequence() as addends]:
            return _sum(addends, given.default_dtype)
        case (("sum" | "max" | "min"), [iterable]):
            item = item_of(iterable)
            return item if isinstance(item, Tensor) else UNKNOWN
        case (("max" | "min"), [_, *_]) if any(map(is_tensor, given.values)):
            return join_all(given.values)
        case "__import__", [Constant(value=str(module))] if "." not in module:
            return Symbol(module)
        case "getattr", [Symbol(name="torch"), *_]:
            return SOME_DTYPE
    return UNKNOWN


def _dictionary(given: CallSite) -> Value:
    """`dict(a=x)`, `dict(other, a=x)`, `dict([("a", x)])`."""
    match given.arguments, given.keywords:
        case (Argument(value=Variable() as copied),), {**none} if not none:
            return copied.then(Step("mapping"))
        case (), {"**": Argument(value=Variable() as copied), **none} if not none:
            return copied
    start = _mapping(given.first) if given.arguments else Dictionary(BOTTOM, ())
    if start is None:
        return UNKNOWN
    keywords = [(None if name == "**" else name, one.value) for name, one in given.keywords.items()]
    return updated(start, (), keywords)


def as_mapping(value: Value) -> Value:
    """`dict(value)`: a copy of a mapping, or what pairs of keys and values make."""
    made = _mapping(value)
    return value if made is None else made


def _mapping(value: Value) -> Dictionary | None:
    """A mapping, or what pairs of keys and values make; None for anything else."""
    match value:
        case Dictionary():
            return value
        case Sequence(items=None, item=Sequence(items=(_, held))):  # `model.named_modules()`
            return Dictionary(held)
        case Sequence(items=tuple(pairs)):
            items: dict[object, Value] = {}
            for pair in pairs:
                match pair:
                    case Sequence(items=(Constant(value=key), held)):
                        items[key] = held
                    case _:
                        return None
            return Dictionary(join_all(items.values()), tuple(items.items()))
    return None


def _sum(addends: Sequence, default: str) -> Value:
    """`sum(xs)`: zero and the items, added up."""
    items = transfer.items_of(addends)
    return promote([Constant(0), *items], default) if all(map(is_tensor, items)) else UNKNOWN


def function(name: str, given: CallSite) -> Value:
    """The result of a function by its qualified name."""
    package, _, path = name.partition(".")
    if package == "numpy":
        return arrays.made(path, given)
    if package == "math":
        return numbers.of_math(path)
    if package in sources.FOREIGN_PACKAGES:
        return NON_TENSOR
    if package != "torch":
        return UNKNOWN
    owner, _, last = path.rpartition(".")
    if name == numbers.FINFO:
        return numbers.limits(given.first)
    if path in _NO_TENSORS:
        return NON_TENSOR
    if path == "get_default_dtype":
        return Dtype(frozenset({given.default_dtype}))
    if last in factories.FACTORIES and owner in {"", "cuda"}:
        return factories.new(last, given)
    if last.endswith("_") and is_tensor(given.first):
        return given.first  # in-place: the dtype stays
    return _operator(FUNCTIONS, path, given)


def method(name: str, receiver: Value, given: CallSite) -> Value:
    """The result of a method; `given.span` ends with its name."""
    match receiver:
        case NonTensor():
            return arrays.method(receiver, name, given)
        case Constant():
            return NON_TENSOR
        case Dictionary() if name in _OF_DICTIONARIES:
            return _of_dictionary(receiver, name, given)
        case Sequence() if name in _TAKING:
            return receiver.item
        case Sequence() | Dictionary() | Dtype() | Condition():
            return UNKNOWN
    if name == "numpy" and isinstance(receiver, Tensor):
        return array_results.of_tensor(receiver)
    if name in _TO_PYTHON:
        return NON_TENSOR
    if is_conversion(name, given):
        return converted(name, receiver, given)
    match receiver:
        case Tensor():
            return _tensor_method(name, receiver, given)
        case ModelOutput() if name in METHODS:
            return _tensor_method(name, receiver.tensor, given)
        case Model() if name in {"eval", "train", "requires_grad_", "cpu", "cuda"}:
            return receiver
    if name.startswith("new_") and (dtype := dtype_argument(given)) is not None:
        return dtype.of_tensor()
    if name in _MOVES and not given.arguments:
        return some_tensor(receiver, scalar=None)
    return _of_module(name, receiver, given)


def _of_module(name: str, receiver: Value, given: CallSite) -> Value:
    """A method of what may be a module or a tokenizer."""
    origin = given.origin(_OF_THE_MODEL)
    parameter = receiver.parameters if isinstance(receiver, Model) else caller_chosen(origin)
    match name:
        case "parameters" | "buffers":
            return Sequence(parameter)
        case "named_parameters" | "named_buffers":
            return Sequence(Sequence(UNKNOWN, (NON_TENSOR, parameter)))
    return Dictionary(tensor(INT64)) if "return_tensors" in given.keywords else UNKNOWN


def _tensor_method(name: str, receiver: Tensor, given: CallSite) -> Value:
    if name == "cuda" or (name.endswith("_") and not name.endswith("__")):
        return receiver  # another device, or in-place: the dtype stays
    if name == "where":  # x.where(condition, other)
        reordered = (*given.arguments[:1], Argument(receiver, given.span), *given.arguments[1:])
        return _where(replace(given, arguments=reordered))
    arguments = (Argument(receiver, given.span), *given.arguments)
    return _operator(METHODS, name, replace(given, arguments=arguments))


def _operator(table: Mapping[str, Operator], name: str, given: CallSite) -> Value:
    """The result of an operator of the measured tables, or of one that has several forms."""
    several = _OF_SEVERAL_FORMS.get(name)
    if several is not None:
        return several(name, given)
    row = table.get(name)
    if row is not None:
        return _measured(name, row, given)
    return SOME_TENSOR if table is METHODS else UNKNOWN


def _measured(name: str, row: Operator, given: CallSite) -> Value:
    value = transfer.result(row, given, agreeing=name in AGREEING)
    if (
        isinstance(value, Tensor)
        and is_floating(row.result)
        and replace(value, clauses=frozenset()) == SOME_TENSOR
    ):
        # Of a tensor of which nothing is known: its floating dtype, which somebody chose.
        last = name.rpartition(".")[2]
        origin = given.origin(f"`{last}` keeps the floating dtype of its input")
        return replace(value, caller_chosen=True, may_be_other=False, origin=origin)
    return value


# Operators whose result depends on more than dtypes


def _where(given: CallSite) -> Value:
    if len(given.arguments) == 1 and not given.keywords:
        return Sequence(tensor(INT64))
    return transfer.result(FUNCTIONS["where"], given)


def _extreme(name: str, given: CallSite) -> Value:
    """`max` and its like: of all, of a dimension beside the indices, of two tensors."""
    second = given.find(1, "other")
    if second is not None and is_tensor(second.value):
        return transfer.result(FUNCTIONS[f"{name}imum"], given)
    if second is not None and isinstance(second.value, Unknown) and "dim" not in given.keywords:
        return UNKNOWN  # a dimension or a tensor
    row = FUNCTIONS[name]
    value = _measured(name, row, given)
    if given.find(row.dim, "dim") is None:
        return value
    indices = tensor(INT64, scalar=value.scalar if isinstance(value, Tensor) else None)
    return Sequence(join(value, indices), (value, indices))


def _einsum(name: str, given: CallSite) -> Value:
    row = FUNCTIONS[name]
    match given.first:
        case Constant(value=str(equation)) if multiplies_elements(equation):
            row = row._replace(cuda="", cpu="")
    return _measured(name, row, given)


def _unique(name: str, given: CallSite) -> Value:
    value = _measured(name, FUNCTIONS[name], given)
    items = [value]
    for position, keyword in zip(_FLAGS[name], ("return_inverse", "return_counts"), strict=True):
        flag = given.find(position, keyword)
        match flag and flag.value:
            case None | Constant(value=False):
                pass
            case Constant(value=True):
                items.append(tensor(INT64))
            case _:
                return UNKNOWN
    return value if len(items) == 1 else Sequence(join_all(items), tuple(items))


def _nonzero(name: str, given: CallSite) -> Value:
    return Sequence(tensor(INT64)) if "as_tuple" in given.keywords else tensor(INT64)


def _bincount(name: str, given: CallSite) -> Value:
    weights = given.find(1, "weights")
    return tensor(INT64) if weights is None else tensor("float32", "float64")


_OF_SEVERAL_FORMS: Mapping[str, Callable[[str, CallSite], Value]] = {
    "where": lambda _, given: _where(given),
    "max": _extreme,
    "min": _extreme,
    "median": _extreme,
    "nanmedian": _extreme,
    "unique": _unique,
    "unique_consecutive": _unique,
    "nonzero": _nonzero,
    "bincount": _bincount,
    "einsum": _einsum,
}


def _pairs(owner: Dictionary) -> tuple[Sequence, ...] | None:
    """The pairs of key and value of a mapping, if each is known."""
    if owner.items is None or len(owner.items) > MOST_ENTRIES:
        return None
    return tuple(Sequence(UNKNOWN, (Constant(key), value)) for key, value in owner.items)


def _of_dictionary(owner: Dictionary, name: str, given: CallSite) -> Value:
    match name:
        case "items":
            pair = Sequence(UNKNOWN, (NON_TENSOR, owner.item))
            return Sequence(pair, _pairs(owner))
        case "values":
            return Sequence(owner.item)
        case "keys":
            pairs = _pairs(owner)
            return Sequence(
                NON_TENSOR, pairs and tuple(pair.items[0] for pair in pairs if pair.items)
            )
    match given.values:
        case [Constant(value=key)]:
            return owner.of(key)
        case [Constant(value=key), default] if key not in dict(owner.items or ()):
            return join(owner.item, default)
        case [Constant(value=key), _]:
            return owner.of(key)
    return owner.item
