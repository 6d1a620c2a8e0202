"""What the value of an expression can be, and where it got its dtype: the elements of the lattice.

Their order and their join are in `lattice`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from precision_lint.facts.dtypes.domain.terms import Step, Term
from precision_lint.facts.origin import Origin, Setting
from precision_lint.model.dtypes import FLOATING, INT64
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from precision_lint.facts.dtypes.syntax.definitions import Class, Function


@frozen
class Bottom:
    """No value: the item of an empty list, what a call that never returns gives."""


@frozen
class Unknown:
    """Any object, and nothing shows that it is a tensor."""


@frozen
class Variable(Unknown):
    """Any object, that somebody else gives: it is what one of the terms stands for."""

    terms: frozenset[Term]
    is_partial: bool = False
    """True if it may be another object as well."""

    def then(self, step: Step, guess: Value | None = None) -> Value:
        """What a step makes of the object: a variable again, or what it is by its name."""
        terms = frozenset(filter(None, (term.then(step) for term in self.terms)))
        is_whole = len(terms) == len(self.terms)
        further: Value = Variable(terms, self.is_partial) if is_whole else UNKNOWN
        match guess:
            case None | Unknown():
                return further
            case Tensor(clauses=clauses) | Dtype(clauses=clauses) if guess.is_open and not clauses:
                return replace(guess, clauses=clauses_of(further))
            case ModelOutput(tensor=tensor) if tensor.is_open and not tensor.clauses:
                given = frozenset() if isinstance(further, Variable) else tensor.dtypes
                return ModelOutput(replace(tensor, dtypes=given, clauses=clauses_of(further)))
            case Model(parameters=tensor) if tensor.is_open and isinstance(further, Variable):
                return further
            case Sequence(item=item, items=None) if isinstance(further, Variable):
                return Sequence(further.then(Step("each"), item))
            case Sequence(item=item, items=tuple(items)) if isinstance(further, Variable):
                unpacked = (Step("unpacked", position=number) for number in range(len(items)))
                return Sequence(item, tuple(map(further.then, unpacked, items)))
            case Dictionary(item=item, items=None) if isinstance(further, Variable):
                return replace(guess, item=further.then(Step("value"), item))
        return guess


Site: TypeAlias = "tuple[Path, Span]"
"""A call, as the place where an object is made."""

Clause: TypeAlias = "frozenset[Term | str]"
"""The dtype that terms, and dtypes beside them, promote to: bfloat16 only if each of them is."""

_D = TypeVar("_D", bound="DtypeSet")

ANONYMOUS: Clause = frozenset()
"""What is not known and has no term: beside it, no term says all."""


@frozen
class DtypeSet:
    """The dtypes that a tensor can have.

    `dtypes` are those that are known, `caller_chosen` says that the caller or the checkpoint
    may choose the floating dtype, `may_be_other` that others are possible, of which nothing is
    known. `clauses` are the terms that stand for these choices; `ANONYMOUS` is among them if others
    choose as well. `origin` is the place that one of them comes from: one with the least precision.
    """

    dtypes: frozenset[str] = frozenset()
    caller_chosen: bool = False
    may_be_other: bool = False
    origin: Origin | None = field(default=None, compare=False)
    clauses: frozenset[Clause] = field(default=frozenset(), kw_only=True)

    def decided(self: _D) -> _D:
        """The same where no caller chooses any more."""
        return replace(self, caller_chosen=False, clauses=frozenset())

    @property
    def is_open(self) -> bool:
        """True if dtypes are possible that are not named in `dtypes`."""
        return self.caller_chosen or self.may_be_other

    @property
    def choices(self) -> frozenset[Clause]:
        """The clauses that stand for what is open."""
        return self.clauses or (_ANONYMOUS if self.is_open else frozenset())

    def must_be(self, dtypes: frozenset[str]) -> bool:
        """True if every dtype that is possible is among `dtypes`."""
        return (
            not (self.caller_chosen or self.may_be_other)
            and bool(self.dtypes)
            and self.dtypes <= dtypes
        )

    def may_be(self, dtypes: frozenset[str]) -> bool:
        """True if one of `dtypes` is known to be possible, or the caller can choose it."""
        return bool(self.dtypes & dtypes) or (self.caller_chosen and bool(dtypes & FLOATING))


@frozen
class Tensor(DtypeSet):
    """A torch tensor.

    `scalar` says that it has no dimension, which makes it weak in promotion; None that it may have
    none. A tensor that is `may_be_other` and whose `scalar` is None may as well be another object.
    """

    scalar: bool | None = False

    def dtype(self) -> Dtype:
        """Its `dtype`."""
        return Dtype(
            self.dtypes, self.caller_chosen, self.may_be_other, self.origin, clauses=self.clauses
        )


@frozen
class Dtype(DtypeSet):
    """A `torch.dtype` object."""

    def of_tensor(self) -> Tensor:
        """A tensor of this dtype."""
        return Tensor(
            self.dtypes, self.caller_chosen, self.may_be_other, self.origin, clauses=self.clauses
        )


@frozen
class Constant:
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis."""

    value: object
    kind: type = field(init=False, repr=False)
    """Tells 1, 1.0 and True apart, which Python calls equal."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value))


@frozen
class Condition:
    """A truth value, or a tensor of them, whose source text says what it depends on.

    The text may be of another file: a property that a setting has.
    """

    text: str


@frozen
class NonTensor:
    """Not a torch tensor: an array of NumPy, a frame of pandas, a Python number …

    `dtypes` are those that an array or a scalar of NumPy, or an integer, can have where that is
    known; `scalar` says that it is a number, None that it may be one. `parsed` are the format of a
    configuration file that it is read from, and the keys under which it is there.
    """

    dtypes: frozenset[str] = frozenset()
    scalar: bool | None = None
    parsed: tuple[str, ...] = ()


@frozen
class Symbol:
    """A module, function or class by its qualified name: `torch.nn.functional.linear`."""

    name: str


@frozen
class LibraryObject:
    """An object of a class of another package, as the tables of libraries call it.

    `precision` is the one that an `Accelerator` or a `Fabric` was made with, and the dtype whose
    limits a `torch.finfo` has, if that is known.
    """

    name: str
    precision: str = ""


@frozen
class Sequence:
    """A list, tuple, set or iterator. `items` when each is known, else what any item can be.

    `head` is what it begins with, whatever follows: `[x, *others]`, or `[x]` and a loop that
    appends.
    """

    item: Value
    items: tuple[Value, ...] | None = None
    head: tuple[Value, ...] = ()

    @property
    def beginning(self) -> tuple[Value, ...]:
        """The items that are there in any case."""
        return self.head if self.items is None else self.items


@frozen
class Dictionary:
    """A mapping whose values can be `item`; `items` by constant key, when each is known.

    `default` is what a `defaultdict` puts where a key is missing; bottom for any other mapping.
    """

    item: Value
    items: tuple[tuple[object, Value], ...] | None = None
    default: Value = field(default_factory=Bottom)

    def of(self, key: object) -> Value:
        """The value of a key."""
        if self.items is None:
            return self.item
        missing = self.item if isinstance(self.default, Bottom) else self.default
        return dict(self.items).get(key, missing)


WITHOUT_HEAD = "network without a head"
"""What a module is called that returns features: it has no classes, or the hub says how many, or it
is a base model of transformers, whose first output is its residual stream.

Under autocast to bfloat16, with norms in float32 as on CUDA, 25 of 33 kinds of models of timm
1.0.31 with `num_classes=0` return float32 (torch 2.13, `scripts/measure_features.py`). What may be
such a module is taken for one.
"""


WITH_BUFFER = "network that adds a buffer to its logits"
"""What a module is called whose logits autocast leaves in float32, if its buffers are."""


@frozen
class Model:
    """A module whose code is not seen: `AutoModel.from_pretrained(…)`, `nn.Linear(…)`.

    `parameters` is a tensor of the dtype that its floating parameters and buffers have; `name` the
    class of torch that it is an instance of, if it is one. `cast` is the call that gave them their
    dtype, of several one that can make them float16, and `adapter` the call that added layers of
    this dtype to be trained. `is_widened` if the program casts those parameters to float32 that it
    trains, at least on some path: mostly on that where they are not float32. `widens` says that its
    outputs are converted from half precision to float32. `is_known` says that its class is one of a
    library whose outputs have the dtype of its weights; others may widen what they return.
    `is_given` if it is what the terms of its parameters stand for, and nothing has cast it since.
    """

    parameters: Tensor
    name: str | None = None
    cast: Origin | None = field(default=None, compare=False)
    adapter: Origin | None = field(default=None, compare=False)
    is_widened: bool = False
    widens: bool = False
    layers: tuple[str, ...] = ()
    """The classes of the layers of a `Sequential`, in order, if all are of torch."""
    is_known: bool = False
    members: tuple[Model | Instance, ...] = ()
    """The modules of a `Sequential`, as they were put in, if some are of the project's classes, or
    if their dtypes differ."""
    kin: frozenset[Site] = field(default=frozenset(), compare=False)
    """The calls that made it, what it was given and what it is a part of (see `kin`)."""
    is_given: bool = False


@frozen
class ModelOutput:
    """What a model returned: `tensor`, or a tuple, dict or object of such tensors."""

    tensor: Tensor

    def may_be(self, dtypes: frozenset[str]) -> bool:
        """True if one of `dtypes` is among those that its tensors can have."""
        return self.tensor.may_be(dtypes)


@frozen
class FunctionValue:
    """A function, method or lambda of the project; `receiver` is what it is bound to.

    `is_bare` if it is what its decorators are given: a call of it does not run them.
    """

    definition: Function
    receiver: Value | None = None
    closure: Mapping[str, Value] | None = field(default=None, compare=False, hash=False)
    is_bare: bool = False


@frozen
class ClassObject:
    """A class of the project."""

    definition: Class


@frozen
class Instance:
    """An object of a class of the project.

    `fields` are attributes that its construction gave it; `parameters` is the dtype of the floating
    parameters of an `nn.Module`, None where whoever moves the module chooses it; `widens`,
    `cast` and `kin` are as in a `Model`.
    """

    definition: Class
    fields: tuple[tuple[str, Value], ...] = ()
    parameters: Tensor | None = None
    widens: bool = False
    cast: Origin | None = field(default=None, compare=False)
    kin: frozenset[Site] = field(default=frozenset(), compare=False)

    def field(self, name: str) -> Value | None:
        return next((value for key, value in self.fields if key == name), None)

    def with_field(self, name: str, value: Value) -> Instance:
        """The object after `self.name = value`."""
        return replace(self, fields=tuple({**dict(self.fields), name: value}.items()))


@frozen
class Partial:
    """A function with some of its arguments: `functools.partial(load, dtype=torch.bfloat16)`."""

    function: Value
    arguments: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()


@frozen
class AutocastContext:
    """An autocast region before it is entered: `torch.autocast("cuda", dtype=torch.bfloat16)`.

    `device` is "cuda", "cpu" …, None if not known; `dtype` None if the region turns autocast off.
    A region that may not be opened at all has a dtype that may be another.
    """

    device: str | None
    dtype: Dtype | None


@frozen
class OneOf:
    """One of several functions, classes or objects: `Fast() if fast else Plain()`, `LOADERS[name]`.

    Only the join makes it (see `lattice`): the members are of different definitions, in the order
    of these in the source, or of different names in other packages.
    """

    members: tuple[FunctionValue | ClassObject | Instance | Symbol | Partial, ...]


@frozen
class Mixed:
    """A value that is one of several kinds of objects: at most one member for each facet.

    Only the join makes it, and never with one facet alone (see `lattice`).
    """

    tensor: Tensor | ModelOutput | None = None
    array: NonTensor | None = None
    sequence: Sequence | None = None
    mapping: Dictionary | None = None
    other: Other | None = None


Other = (
    Unknown
    | Dtype
    | Constant
    | Setting
    | Condition
    | Symbol
    | LibraryObject
    | Model
    | FunctionValue
    | ClassObject
    | Instance
    | OneOf
    | Partial
    | AutocastContext
)
"""Neither tensors nor arrays nor containers."""

Facet = Tensor | ModelOutput | NonTensor | Sequence | Dictionary | Other

Value = Bottom | Facet | Mixed

_ANONYMOUS = frozenset({ANONYMOUS})

UNKNOWN = Unknown()
BOTTOM = Bottom()
NON_TENSOR = NonTensor()
INTEGER = NonTensor(frozenset({INT64}), True)
SOME_TENSOR = Tensor(may_be_other=True)
SOME_DTYPE = Dtype(may_be_other=True)


def tensor(*dtypes: str, origin: Origin | None = None, scalar: bool | None = False) -> Tensor:
    return Tensor(frozenset(dtypes), origin=origin, scalar=scalar)


def caller_chosen(origin: Origin | None = None, given: Value = UNKNOWN) -> Tensor:
    """A floating tensor whose dtype the caller or the checkpoint chooses, by giving `given`."""
    return Tensor(caller_chosen=True, origin=origin, clauses=clauses_of(given))


def some_tensor(given: Value = UNKNOWN, scalar: bool | None = False) -> Tensor:
    """A tensor of any dtype: of that of `given`, if this is a variable."""
    return Tensor(may_be_other=True, scalar=scalar, clauses=clauses_of(given))


def clauses_of(value: Value) -> frozenset[Clause]:
    """The clauses that say which dtypes a value has that may be a tensor."""
    match value:
        case Variable(terms=terms, is_partial=is_partial):
            clauses = frozenset(frozenset({term}) for term in terms)
            return clauses | _ANONYMOUS if is_partial else clauses
        case (
            Dtype(clauses=clauses)
            | Model(parameters=Tensor(clauses=clauses))
            | AutocastContext(dtype=Dtype(clauses=clauses))
        ) if clauses:
            return clauses | _ANONYMOUS
    return frozenset()


def as_variable(value: Value) -> Value:
    """A tensor, a dtype or a given module, of which nothing but terms is known, as a variable.

    `x.to(0)` is taken for a tensor, and may be a module. Of a tensor, terms that stand for a dtype
    alone are those of its dtype, and not of the object: `copied.to(dtype=model.dtype)`.
    """
    match value:
        case (
            Tensor(dtypes=dtypes, may_be_other=True, clauses=clauses)
            | Dtype(dtypes=dtypes, may_be_other=True, clauses=clauses)
            | Model(is_given=True, parameters=Tensor(dtypes=dtypes, clauses=clauses))
        ) if clauses and not dtypes:
            named = clauses - _ANONYMOUS
            terms = frozenset(one for clause in named for one in clause if not isinstance(one, str))
            if isinstance(value, Tensor) and any(map(_is_of_dtype, terms)):
                return value
            if named == {frozenset({term}) for term in terms}:
                return Variable(terms, is_partial=named != clauses)
    return value


def _is_of_dtype(term: Term) -> bool:
    """True for what is read as `dtype` of an object."""
    match term.steps:
        case (*_, Step(kind="attribute", node=ast.Attribute(attr="dtype"))):
            return True
    return False


def output_after(output: ModelOutput, step: Step) -> ModelOutput:
    """What one takes out of an output. Terms that stand for a dtype alone stay as they are."""
    taken: set[Clause] = set()
    for clause in output.tensor.clauses:
        match [*clause]:
            case [Term() as term] if _is_of_output(term):
                further = term.then(step)
                taken.add(ANONYMOUS if further is None else frozenset({further}))
            case _:
                taken.add(clause)
    return ModelOutput(replace(output.tensor, clauses=frozenset(taken)))


def _is_of_output(term: Term) -> bool:
    """True for what a call gives, and for what is taken out of that."""
    kinds = [step.kind for step in term.steps]
    while kinds and kinds[-1] in {"attribute", "item", "unpacked"}:
        kinds.pop()
    return bool(kinds) and kinds[-1] in {"call", "method"}


def united(one: DtypeSet, other: DtypeSet) -> frozenset[Clause]:
    """The clauses of what is one or the other."""
    return simplified(one.choices | other.choices)


def simplified(clauses: frozenset[Clause]) -> frozenset[Clause]:
    """Clauses without a lone `ANONYMOUS`, which says nothing."""
    return frozenset() if clauses == _ANONYMOUS else clauses


def perhaps_floating(origin: Origin | None = None) -> Tensor:
    """A tensor by its annotation or name: the caller chooses its dtype, mostly a floating one."""
    return Tensor(caller_chosen=True, may_be_other=True, origin=origin)
