"""The lattice: what is known of the value of an expression, and where it got its dtype."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeVar, cast

from precision_lint.dtype_names import FLOATING, HALF, INT64
from precision_lint.finding import Related, Span
from precision_lint.source.text import SourceText

if TYPE_CHECKING:
    from precision_lint.dtypes.definitions import Class, Function
    from precision_lint.dtypes.environment import Environment


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a dtype comes from: a place of any file of the project, and what happens there."""

    source: SourceText
    span: Span
    text: str

    @property
    def related(self) -> Related:
        """The place, as the other half of a finding."""
        return Related(self.source.place(self.span), self.text)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No value at all: the item of an empty list. Joining it to anything adds nothing."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A torch tensor.

    `dtypes` are dtypes that it can have, `chosen` says that the caller or the checkpoint may choose
    its floating dtype, `partial` that it can have dtypes that we know nothing of. `scalar` says
    that it has no dimension, which makes it weak in promotion; None that it may have none.
    """

    dtypes: frozenset[str] = frozenset()
    chosen: bool = False
    partial: bool = False
    origin: Origin | None = field(default=None, compare=False)
    scalar: bool | None = False

    def proved(self, dtypes: frozenset[str]) -> bool:
        """True if every dtype that the tensor can have is among `dtypes`."""
        return not (self.chosen or self.partial) and bool(self.dtypes) and self.dtypes <= dtypes

    def possible(self, dtypes: frozenset[str]) -> bool:
        """True if one of `dtypes` is among those it can have, or the caller can choose it."""
        return bool(self.dtypes & dtypes) or (self.chosen and bool(dtypes & FLOATING))


@dataclass(frozen=True, slots=True)
class Dtype:
    """A `torch.dtype` object; the fields mean what they mean for the tensors that it makes."""

    dtypes: frozenset[str] = frozenset()
    chosen: bool = False
    partial: bool = False
    origin: Origin | None = field(default=None, compare=False)

    def of_tensor(self) -> Tensor:
        """A tensor of this dtype."""
        return Tensor(self.dtypes, self.chosen, self.partial, self.origin)


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis."""

    value: object
    kind: type = field(init=False, repr=False)
    """Tells 1, 1.0 and True apart, which Python calls equal."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value))


@dataclass(frozen=True, slots=True)
class Setting:
    """What the project's configuration makes of a setting: one choice for each place that sets it.

    `cfg.training.precision` where a YAML file beside the code says `precision: bf16`.
    """

    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that a configuration file, an argument's default or an env file gives a setting."""

    value: object
    origin: Origin = field(compare=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """A truth value, or a tensor of them, whose source text says what it depends on."""

    span: Span


@dataclass(frozen=True, slots=True)
class Foreign:
    """Not a torch tensor: an array of NumPy, a frame of pandas, a Python number …

    `dtypes` are those that an array or a scalar of NumPy, or an integer, can have where that is
    known; `scalar` says that it is a number, None that it may be one.
    """

    dtypes: frozenset[str] = frozenset()
    scalar: bool | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A module, function or class by its qualified name: `torch.nn.functional.linear`."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list, tuple, set or iterator. `items` when each is known, else what any item can be."""

    item: Value
    items: tuple[Value, ...] | None = None


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A mapping whose values can be `item`; `items` by constant key, when each is known."""

    item: Value
    items: tuple[tuple[object, Value], ...] | None = None

    def of(self, key: object) -> Value:
        """The value of a key."""
        return self.item if self.items is None else dict(self.items).get(key, self.item)

    def with_item(self, key: Value, value: Value) -> Dictionary:
        """The mapping after `self[key] = value`."""
        if self.items is None or not isinstance(key, Constant):
            return Dictionary(join(self.item, value))
        items = {**dict(self.items), key.value: value}
        return Dictionary(join_all([*items.values()]), tuple(items.items()))

    def updated(
        self, others: Iterable[Value], keywords: Iterable[tuple[str | None, Value]]
    ) -> Dictionary:
        """The mapping after `self.update(other, key=value)`; no key stands for `**value`."""
        changed = self
        for other in others:
            changed = changed._merged(other)
        for key, value in keywords:
            if key is None:
                changed = changed._merged(value)
            else:
                changed = changed.with_item(Constant(key), value)
        return changed

    def _merged(self, other: Value) -> Dictionary:
        if not isinstance(other, Dictionary):
            return Dictionary(UNKNOWN)
        if self.items is None or other.items is None:
            return Dictionary(join(self.item, other.item))
        items = {**dict(self.items), **dict(other.items)}
        return Dictionary(join_all([*items.values()]), tuple(items.items()))


@dataclass(frozen=True, slots=True)
class Model:
    """A module whose code is not seen: `AutoModel.from_pretrained(…)`, `nn.Linear(…)`.

    `parameters` is a tensor of the dtype that its floating parameters and buffers have; `name` the
    class of torch that it is an instance of, if it is one.
    """

    parameters: Tensor
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a model returned: `tensor`, or a tuple, dict or object of such tensors."""

    tensor: Tensor

    def possible(self, dtypes: frozenset[str]) -> bool:
        """True if one of `dtypes` is among those that its tensors can have."""
        return self.tensor.possible(dtypes)


@dataclass(frozen=True, slots=True)
class Routine:
    """A function, method or lambda of the project; `receiver` is what it is bound to."""

    definition: Function
    receiver: Value | None = None
    closure: Environment | None = field(default=None, compare=False, hash=False)


@dataclass(frozen=True, slots=True)
class ClassObject:
    """A class of the project."""

    definition: Class


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class of the project.

    `fields` are attributes that its construction gave it; `parameters` is the dtype of the floating
    parameters of an `nn.Module`, None where whoever moves the module chooses it.
    """

    definition: Class
    fields: tuple[tuple[str, Value], ...] = ()
    parameters: Tensor | None = None

    def field(self, name: str) -> Value | None:
        return next((value for key, value in self.fields if key == name), None)

    def with_field(self, name: str, value: Value) -> Instance:
        """The object after `self.name = value`."""
        return replace(self, fields=tuple({**dict(self.fields), name: value}.items()))


Value = (
    Unknown
    | Nothing
    | Tensor
    | Dtype
    | Constant
    | Setting
    | Condition
    | Foreign
    | Symbol
    | Sequence
    | Dictionary
    | Model
    | Output
    | Routine
    | ClassObject
    | Instance
)

UNKNOWN = Unknown()
NOTHING = Nothing()
FOREIGN = Foreign()
INTEGER = Foreign(frozenset({INT64}), True)
SOME_TENSOR = Tensor(partial=True)
SOME_DTYPE = Dtype(partial=True)


def tensor(*dtypes: str, origin: Origin | None = None, scalar: bool | None = False) -> Tensor:
    return Tensor(frozenset(dtypes), origin=origin, scalar=scalar)


def chosen(origin: Origin | None = None) -> Tensor:
    """A floating tensor whose dtype the caller or the checkpoint chooses."""
    return Tensor(chosen=True, origin=origin)


def join(left: Value, right: Value) -> Value:
    """What is known when the value is one or the other."""
    if left is right or left == right:
        return left
    match left, right:
        case (Nothing(), other) | (other, Nothing()):
            return other
        case Tensor(), Tensor():
            scalar = left.scalar if left.scalar == right.scalar else None
            return replace(_union(left, right), scalar=scalar)
        case Dtype(), Dtype():
            return _union(left, right)
        case Foreign(), Foreign():
            is_known = left.dtypes and right.dtypes
            dtypes = left.dtypes | right.dtypes if is_known else frozenset[str]()
            return Foreign(dtypes, left.scalar if left.scalar == right.scalar else None)
        case Setting(), Setting():
            return Setting(tuple(dict.fromkeys(left.choices + right.choices)))
        case Model(), Model():
            name = left.name if left.name == right.name else None
            return Model(_union(left.parameters, right.parameters), name)
        case Instance(), Instance() if left.definition is right.definition:
            names = dict.fromkeys(name for name, _ in left.fields + right.fields)
            fields = tuple(
                (name, join(left.field(name) or UNKNOWN, right.field(name) or UNKNOWN))
                for name in names
            )
            same = left.parameters == right.parameters
            return Instance(left.definition, fields, left.parameters if same else None)
        case (Output(tensor=one), Output(tensor=other)) | (
            (Output(tensor=one), Tensor() as other) | (Tensor() as one, Output(tensor=other))
        ):
            scalar = one.scalar if one.scalar == other.scalar else None
            return Output(replace(_union(one, other), scalar=scalar))
        case Sequence(), Sequence():
            if (
                left.items is not None
                and right.items is not None
                and len(left.items) == len(right.items)
            ):
                items = tuple(map(join, left.items, right.items))
                return Sequence(join_all(items), items)
            return Sequence(join(left.item, right.item))
        case Dictionary(), Dictionary():
            return Dictionary(join(left.item, right.item), _join_items(left.items, right.items))
        case ((Tensor() | Output()) as one, other) | (other, (Tensor() | Output()) as one):
            return _with_other(one, other)
        case ((Sequence() | Dictionary()) as held, Unknown() | Foreign()) | (
            Unknown() | Foreign(),
            (Sequence() | Dictionary()) as held,
        ) if isinstance(held.item, Tensor | Output):
            return Output(replace(tensor_of(held.item), partial=True))
        case (_, Constant(None)) if not isinstance(left, Constant | Condition):
            return left  # `x = None` before a branch that sets it
        case (Constant(None), _) if not isinstance(right, Constant | Condition):
            return right
    return UNKNOWN


def _with_other(one: Tensor | Output, other: Value) -> Value:
    """A tensor, or something else: what is known of the tensor is kept."""
    match other:
        case Constant(None):
            return one  # `x = None` before a branch that sets it
        case (
            Sequence(item=(Tensor() | Output()) as item)
            | Dictionary(item=(Tensor() | Output()) as item)
        ):
            return join(one if isinstance(one, Output) else Output(one), item)
    vague = replace(tensor_of(one), partial=True, scalar=None)
    # what somebody converted on the way is an array there: it is a tensor where it is used as one
    return Output(vague) if isinstance(one, Output) or isinstance(other, Foreign) else vague


_K = TypeVar("_K")


def _join_items(
    left: tuple[tuple[_K, Value], ...] | None, right: tuple[tuple[_K, Value], ...] | None
) -> tuple[tuple[_K, Value], ...] | None:
    if left is None or right is None:
        return None
    joined = dict(left)
    for key, value in right:
        joined[key] = join(joined.get(key, NOTHING), value)
    return tuple(joined.items())


_D = TypeVar("_D", Tensor, Dtype)


def _union(left: _D, right: _D) -> _D:
    """One dtype or the other; the origin is that of the half one."""
    first = left if left.chosen or left.dtypes & HALF else right
    return type(left)(
        left.dtypes | right.dtypes,
        left.chosen or right.chosen,
        left.partial or right.partial,
        first.origin or left.origin or right.origin,
    )


def tensor_of(value: Tensor | Output) -> Tensor:
    """The tensor that a model's output is, or holds."""
    return value.tensor if isinstance(value, Output) else value


def join_all(values: tuple[Value, ...] | list[Value]) -> Value:
    """The join of all values; nothing for none."""
    return reduce(join, values, cast(Value, NOTHING))


def concatenated(left: Sequence, right: Value) -> Sequence:
    """The list `[*left, *right]`."""
    item = join(left.item, item_of(right))
    if isinstance(right, Sequence) and left.items is not None and right.items is not None:
        return Sequence(item, left.items + right.items)
    return Sequence(item)


def item_of(value: Value) -> Value:
    """What iterating over a value yields."""
    match value:
        case Sequence():
            return value.item
        case Tensor():
            return replace(value, scalar=None)
        case Foreign():
            return replace(value, scalar=None)
        case Output():
            return value
        case Dictionary():
            return FOREIGN
    return UNKNOWN
