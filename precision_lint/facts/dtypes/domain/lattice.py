"""The lattice of values: their order, and the join where branches meet.

A value says what an expression can be. It has up to five facets, and is joined facet by facet:

- `tensor`: a tensor, or what a model returned (`Tensor`, `ModelOutput`);
- `array`: an array of NumPy, a number, any object of a package that is not torch (`NonTensor`);
- `sequence` and `mapping`: a container (`Sequence`, `Dictionary`), joined item by item;
- `other`: one of the remaining kinds, `Unknown` among them.

**Order.** `a` is at most `b` (`a` ⊑ `b`) if each facet of `a` is at most that of `b`: `b` allows
whatever `a` allows, and has all of its evidence, such as a dtype that a tensor can have. `join` is
the least upper bound: associative, commutative and idempotent. Hence neither the order of branches
nor the way in which they are nested decides what is known after them. Places of origin take part in
no comparison, but are chosen by the same laws (`_origin`).

**Bottom** is `BOTTOM`, a value without facets. **There is no top**: a list may hold a list, without
end, and evidence is never taken back by a join. `UNKNOWN` is the top of the facet `other` and the
value to widen to: it allows any object and has no evidence at all. A tensor and `UNKNOWN` is a
tensor that may be something else (`may_be_other`, its `scalar` None): the evidence stays.

**Within a facet.** Sets of dtypes are united, flags are or-ed. Components that must be equal, such
as `scalar`, become None where they differ, which is their top; so do the items of lists of
different lengths, and the dtypes of arrays where one is not known. In the facet `other`, values of
different kinds, or constants that differ, are `UNKNOWN`. Functions, classes and objects of the
project that differ are `OneOf` them, up to a number; more are `UNKNOWN`.

**Between facets** two rules keep values small; each only moves a value up, and to the same place
whatever came first, so that the laws hold:

- Beside a tensor, `other` is not kept: the tensor may be something else.
- Beside anything else, a constant or a condition is `UNKNOWN`.

Within `other`, a model stays a model beside anything else, a dtype beside all but models, a region
of autocast beside all but these, and a variable beside the rest: they may be something else. A
variable beside a tensor, a dtype or a model is one of its clauses.

**None** is what `x = None` leaves before a branch that sets `x`. It is below every value but other
constants and conditions (with these it is `UNKNOWN`): who reads `x` counts on the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import Any, TypeVar, cast

from precision_lint.facts.dtypes.domain.values import (
    ANONYMOUS,
    BOTTOM,
    UNKNOWN,
    WITHOUT_HEAD,
    AutocastContext,
    Bottom,
    ClassObject,
    Condition,
    Constant,
    Dictionary,
    Dtype,
    DtypeSet,
    FunctionValue,
    Instance,
    Mixed,
    Model,
    ModelOutput,
    NonTensor,
    OneOf,
    Other,
    Partial,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    clauses_of,
    some_tensor,
    united,
)
from precision_lint.facts.origin import Choice, Origin, Setting
from precision_lint.model.dtypes import FLOAT16, HALF

_NONE = Constant(None)


def join(left: Value, right: Value) -> Value:
    """What is known when the value is one or the other."""
    if left is right:
        return left
    kind = type(left)
    if kind is type(right):
        same = _JOINS.get(kind)
        if same is not None:
            return same(left, right)
        if left == right:
            return left
    if kind is Bottom:
        return right
    if isinstance(right, Bottom):
        return left
    return _join_facets(left, right)


def join_all(values: Iterable[Value]) -> Value:
    """The join of all values; bottom for none."""
    return reduce(join, values, cast(Value, BOTTOM))


def is_at_most(left: Value, right: Value) -> bool:
    """The order of the lattice, left ⊑ right."""
    return join(left, right) == right


def join_tensors(left: Tensor, right: Tensor) -> Tensor:
    """A tensor of the dtypes of one or the other."""
    return Tensor(
        *_joined(left, right),
        clauses=united(left, right),
        scalar=left.scalar if left.scalar == right.scalar else None,
    )


_D = TypeVar("_D", bound=DtypeSet)


def join_dtypes(left: Dtype, right: Dtype) -> Dtype:
    """The dtypes of one or the other."""
    return Dtype(*_joined(left, right), clauses=united(left, right))


def _joined(left: DtypeSet, right: DtypeSet) -> tuple[frozenset[str], bool, bool, Origin | None]:
    """The dtypes of one or the other: known, chosen by a caller, others, where they come from."""
    return (
        left.dtypes | right.dtypes,
        left.caller_chosen or right.caller_chosen,
        left.may_be_other or right.may_be_other,
        _origin(left, right),
    )


def _origin(left: DtypeSet, right: DtypeSet) -> Origin | None:
    """The origin of the dtype that hurts most (`_rank`); of equals, the first in the project.

    The origin of a lesser dtype does not stand in for one that is missing: it would name a place
    where that dtype does not come from, and which of several would depend on the order.
    """
    if left.origin is right.origin:
        return left.origin
    rank, other = _rank(left), _rank(right)
    if rank != other:
        return left.origin if rank > other else right.origin
    if left.origin is None or right.origin is None:
        return left.origin or right.origin
    return min(left.origin, right.origin, key=_place)


def _rank(possible: DtypeSet) -> tuple[int, int]:
    """bfloat16 and float8, then any dtype that somebody chooses, float16, the others.

    Of these, the dtype that the code names first, then that of a checkpoint, a guess at last.
    """
    origin = possible.origin
    kind = -1 if origin is None else 0 if origin.is_guess else _KINDS.index(origin.kind)
    if possible.dtypes & _LEAST_PRECISE:
        return 3, kind
    return 2 if possible.caller_chosen else int(FLOAT16 in possible.dtypes), kind


_KINDS = (
    "caller",
    "data",
    "checkpoint",
    "load",
    "auto",
    "weights",
    "loader",
    "test",
    "autocast",
    "dtype",
)


_LEAST_PRECISE = HALF - {FLOAT16}


def _place(origin: Origin) -> tuple[str, int, int, str]:
    return str(origin.source.path), *origin.span, origin.text


# Within a facet


def _join_outputs(left: ModelOutput, right: ModelOutput) -> ModelOutput:
    return ModelOutput(join_tensors(left.tensor, right.tensor))


def _join_arrays(left: NonTensor, right: NonTensor) -> NonTensor:
    is_known = left.dtypes and right.dtypes
    dtypes = left.dtypes | right.dtypes if is_known else frozenset[str]()
    scalar = left.scalar if left.scalar == right.scalar else None
    return NonTensor(dtypes, scalar, left.parsed if left.parsed == right.parsed else ())


def _join_sequences(left: Sequence, right: Sequence) -> Sequence:
    item = join(left.item, right.item)
    common = tuple(map(join, left.beginning, right.beginning))  # as long as the shorter one
    if left.items is None or right.items is None or len(left.items) != len(right.items):
        return Sequence(item, head=common)
    return Sequence(item, common)


def _join_mappings(left: Dictionary, right: Dictionary) -> Dictionary:
    item = join(left.item, right.item)
    default = join(left.default, right.default)
    if left.items is None or right.items is None:
        return Dictionary(item, None, default)
    return Dictionary(item, _join_items(dict(left.items), dict(right.items), BOTTOM), default)


def _join_contexts(left: AutocastContext, right: AutocastContext) -> AutocastContext:
    device = left.device if left.device == right.device else None
    if left.dtype is None or right.dtype is None:
        dtype = left.dtype or right.dtype
        return AutocastContext(device, dtype and replace(dtype, may_be_other=True))
    return AutocastContext(device, join_dtypes(left.dtype, right.dtype))


def join_settings(left: Setting, right: Setting) -> Setting:
    """A setting that is one or the other; its choices in the order of their values."""
    if left == right:
        return Setting(tuple(map(_first, left.choices, right.choices)))
    choices: dict[tuple[type, object], Choice] = {}
    for choice in sorted((*left.choices, *right.choices), key=lambda one: _place(one.origin)):
        choices.setdefault((type(choice.value), choice.value), choice)
    return Setting(tuple(choices[key] for key in sorted(choices, key=lambda key: _sorting(key[1]))))


def _first(left: Choice, right: Choice) -> Choice:
    return min(left, right, key=lambda one: _place(one.origin))


def _join_models(left: Model, right: Model) -> Model:
    name = left.name if left.name == right.name else None
    if WITHOUT_HEAD in {left.name, right.name}:
        name = WITHOUT_HEAD
    return Model(
        join_tensors(left.parameters, right.parameters),
        name,
        _cast(left, right),
        _one_of(left.adapter, right.adapter),
        left.is_widened or right.is_widened,
        left.widens and right.widens,
        left.layers if left.layers == right.layers else (),
        left.is_known and right.is_known,
        left.members if left.members == right.members else (),
        left.kin | right.kin,
        left.is_given and right.is_given,
    )


def _cast(left: Model, right: Model) -> Origin | None:
    """The call that gave one of two modules its dtype: that of the one that can be float16."""
    one, other = (FLOAT16 in each.parameters.dtypes for each in (left, right))
    if one is not other:
        return left.cast if one else right.cast
    return _one_of(left.cast, right.cast)


def _one_of(left: Origin | None, right: Origin | None) -> Origin | None:
    """One of two places: the first in the project."""
    if left is None or right is None or left is right:
        return left or right
    return min(left, right, key=_place)


def _join_variables(left: Variable, right: Variable) -> Value:
    return Variable(left.terms | right.terms, left.is_partial or right.is_partial)


_Member = FunctionValue | ClassObject | Instance | Symbol | Partial
_Place = tuple[str, str, int, int]

_MOST_MEMBERS = 6
"""Functions, classes and objects that a value may be one of; of more nothing is known."""


def _join_objects(left: _Member | OneOf, right: _Member | OneOf) -> Other:
    """Functions and objects: those of one definition are joined, the others kept apart."""
    joined: dict[_Place, _Member] = {}
    for member in (*_members(left), *_members(right)):
        place = _place_of_definition(member)
        same = _join_members(joined[place], member) if place in joined else member
        if same is None:
            return UNKNOWN
        joined[place] = same
    if len(joined) > _MOST_MEMBERS:
        return UNKNOWN
    members = tuple(joined[place] for place in sorted(joined))
    return members[0] if len(members) == 1 else OneOf(tuple(map(_without_objects, members)))


def _members(value: _Member | OneOf) -> tuple[_Member, ...]:
    return value.members if isinstance(value, OneOf) else (value,)


def _place_of_definition(member: _Member) -> _Place:
    match member:
        case Symbol(name=name):
            return "Symbol", name, 0, 0
        case Partial(function=FunctionValue() | ClassObject() | Symbol() as function):
            kind, path, row, column = _place_of_definition(function)
            return f"Partial of {kind}", path, row, column
        case Partial():
            return "Partial", "", 0, 0
    definition = member.definition
    path = str(definition.module.file.text.path)
    return type(member).__name__, path, definition.node.lineno, definition.node.col_offset


_V = TypeVar("_V", bound=Value)


_Flat = (
    Bottom
    | Tensor
    | Model
    | ModelOutput
    | Dtype
    | Constant
    | Condition
    | NonTensor
    | Unknown
    | AutocastContext
)
"""What holds no object."""


def _without_objects(value: _V, depth: int = 1) -> _V:
    """An object whose fields hold no objects but those of `depth` levels: more would grow forever.

    One level is kept: `model.vae = model.vae.float()` outlasts the cast of the model before it.
    """
    match value:
        case Instance(fields=fields):
            shallow = [(name, one) for name, one in fields if _is_shallow(one, depth)]
            return replace(
                value, fields=tuple((name, _without_objects(one, 0)) for name, one in shallow)
            )
        case FunctionValue(receiver=Instance() as receiver):
            return replace(value, receiver=_without_objects(receiver, depth))
    return value


def _is_shallow(value: Value, depth: int) -> bool:
    if isinstance(value, Mixed):
        has_container = value.sequence is not None or value.mapping is not None
        return not has_container and not _is_object(value)
    return isinstance(value, _Flat | Instance if depth else _Flat)


def _is_object(value: Value) -> bool | None:
    """Whether a field holds an object, a function or a container, and no tensor or number.

    None for what a field holds before it is set. Fields of both sorts are not joined: what is left
    of the object would depend on which of three values meet first (`_without_objects`).
    """
    match value:
        case Bottom() | Constant(None):
            return None
        case Mixed(tensor=None, array=array, other=None):
            return array is None
        case Mixed(tensor=None, other=other):
            return not isinstance(other, _Flat)
        case Mixed():
            return False
    return not isinstance(value, _Flat)


def _join_members(left: _Member, right: _Member) -> _Member | None:
    """Two objects of one definition; None for functions that are bound to different arguments."""
    match left, right:
        case Partial(), Partial():
            return _join_equal_partials(left, right) if left == right else None
        case Instance(), Instance():
            return _join_instances(left, right)
        case FunctionValue(receiver=None), FunctionValue(receiver=None):
            return left
        case FunctionValue(receiver=one), FunctionValue(receiver=other):
            if one is None or other is None:
                return None
            if one != other:
                one, other = _without_objects(one), _without_objects(other)
            return replace(left, receiver=join(one, other))
    return left


def _join_equal_partials(left: Partial, right: Partial) -> Partial:
    """Two that differ in the places of origin alone."""
    keywords = zip(left.keywords, right.keywords, strict=True)
    return Partial(
        join(left.function, right.function),
        tuple(map(join, left.arguments, right.arguments)),
        tuple((name, join(one, other)) for (name, one), (_, other) in keywords),
    )


def _join_instances(left: Instance, right: Instance) -> Instance:
    parameters = None
    if left.parameters is not None or right.parameters is not None:
        # None is whatever the mover of the module chooses: what is known beside it stays known
        one, other = (
            each or Tensor(caller_chosen=True) for each in (left.parameters, right.parameters)
        )
        parameters = join_tensors(one, other)
    # of an attribute that only one of them has been given, the class says more; and so it does
    # where one has a tensor and the other an object, or where nothing is known of both objects
    values, others = dict(left.fields), dict(right.fields)
    sorts = {
        name: {_is_object(values[name]), _is_object(others[name])} - {None}
        for name in values.keys() & others.keys()
    }
    of_one_sort = {name for name, each in sorts.items() if len(each) < 2}
    one_fields, other_fields = (
        {name: value for name, value in each.fields if name in of_one_sort}
        for each in (left, right)
    )
    joined = _join_items(one_fields, other_fields, UNKNOWN)
    fields = tuple((name, one) for name, one in joined if sorts[name] <= {_is_object(one)})
    cast = _one_of(left.cast, right.cast)
    widens = left.widens and right.widens
    return Instance(left.definition, fields, parameters, widens, cast, left.kin | right.kin)


_K = TypeVar("_K")


def _join_items(
    left: Mapping[_K, Value], right: Mapping[_K, Value], missing: Value
) -> tuple[tuple[_K, Value], ...]:
    """Joined by key. Keys keep their order if it is the same in both, and are sorted if not."""
    keys = [*left] if [*left] == [*right] else sorted(left.keys() | right.keys(), key=_sorting)
    return tuple((key, join(left.get(key, missing), right.get(key, missing))) for key in keys)


def _sorting(key: object) -> tuple[bool, float, str, str]:
    """A key to sort constants by: numbers first."""
    is_number = isinstance(key, bool | int | float)
    return (
        not is_number,
        key if isinstance(key, bool | int | float) else 0,
        "" if is_number else type(key).__name__,
        "" if is_number else repr(key),
    )


def _join_others(left: Other, right: Other) -> Other:
    """Two values of the facet `other`, of any kinds."""
    if type(left) is type(right) and (same := _JOINS.get(type(left))) is not None:
        return cast(Other, same(left, right))
    if left == right:
        return left
    if isinstance(left, _Member | OneOf) and isinstance(right, _Member | OneOf):
        return _join_objects(left, right)
    pairs = ((left, right), (right, left))
    for one, other in pairs:
        if one == _NONE and not isinstance(other, Constant | Condition):
            return other
    for kind in (Model, Dtype, AutocastContext, Unknown):
        for one, other in pairs:
            if isinstance(one, kind):
                return _beside(one, other)
    return UNKNOWN


def _beside(one: Model | Dtype | AutocastContext | Unknown, other: Other) -> Other:
    """A value that may be another one as well, of a kind that says less of dtypes."""
    match one:
        case Model(parameters=parameters):
            return replace(one, parameters=_vague(parameters, other))
        case Dtype():
            return join_dtypes(one, Dtype(may_be_other=True, clauses=clauses_of(other)))
        case AutocastContext():
            given = clauses_of(other)
            dtype = Dtype(may_be_other=True, clauses=given | {ANONYMOUS}) if given else None
            return _join_contexts(one, AutocastContext(one.device, dtype))
        case Variable():
            return replace(one, is_partial=True)
    return replace(other, is_partial=True) if isinstance(other, Variable) else UNKNOWN


_JOINS: Mapping[type, Callable[[Any, Any], Value]] = {
    Tensor: join_tensors,
    ModelOutput: _join_outputs,
    NonTensor: _join_arrays,
    Sequence: _join_sequences,
    Dictionary: _join_mappings,
    Dtype: join_dtypes,
    Setting: join_settings,
    Model: _join_models,
    Instance: _join_objects,
    Partial: _join_objects,
    Symbol: _join_objects,
    ClassObject: _join_objects,
    FunctionValue: _join_objects,
    OneOf: _join_objects,
    AutocastContext: _join_contexts,
    Variable: _join_variables,
    Mixed: lambda left, right: _join_facets(left, right),
}
"""Joins of two values of one kind."""


# Between facets


def _join_facets(left: Value, right: Value) -> Value:
    one, another = _facets(left), _facets(right)
    array: NonTensor | None = _either(_join_arrays, one.array, another.array)
    sequence: Sequence | None = _either(_join_sequences, one.sequence, another.sequence)
    mapping: Dictionary | None = _either(_join_mappings, one.mapping, another.mapping)
    tensor: Tensor | ModelOutput | None = _either(_join_tensor_facets, one.tensor, another.tensor)
    other: Other | None = _either(_join_others, one.other, another.other)
    if other is not None and (tensor or array or sequence or mapping):
        if other == _NONE:
            other = None
        elif tensor is not None:
            tensor, other = _perhaps(tensor, other), None
        elif isinstance(other, Constant | Condition):
            other = UNKNOWN
    members = [each for each in (tensor, array, sequence, mapping, other) if each is not None]
    return members[0] if len(members) == 1 else Mixed(tensor, array, sequence, mapping, other)


def _facets(value: Value) -> Mixed:
    match value:
        case Mixed():
            return value
        case Tensor() | ModelOutput():
            return Mixed(tensor=value)
        case NonTensor():
            return Mixed(array=value)
        case Sequence():
            return Mixed(sequence=value)
        case Dictionary():
            return Mixed(mapping=value)
        case Bottom():
            return Mixed()
    return Mixed(other=value)


def _either(joining: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if left is None or right is None:
        return right if left is None else left
    return joining(left, right)


def _join_tensor_facets(
    left: Tensor | ModelOutput, right: Tensor | ModelOutput
) -> Tensor | ModelOutput:
    joined = join_tensors(tensor_of(left), tensor_of(right))
    is_output = isinstance(left, ModelOutput) or isinstance(right, ModelOutput)
    return ModelOutput(joined) if is_output else joined


def _perhaps(value: Tensor | ModelOutput, other: Other) -> Tensor | ModelOutput:
    """What is a tensor, or something else."""
    vague = replace(_vague(tensor_of(value), other), scalar=None)
    return ModelOutput(vague) if isinstance(value, ModelOutput) else vague


def _vague(tensor: Tensor, other: Value = UNKNOWN) -> Tensor:
    """The tensor, or another of which nothing is known but what `other` says."""
    return replace(join_tensors(tensor, some_tensor(other)), scalar=tensor.scalar)


def of_each_item(function: Callable[[Value], Value], sequence: Sequence) -> Sequence:
    """A sequence with a function applied to what it holds."""
    items = None if sequence.items is None else tuple(map(function, sequence.items))
    return Sequence(function(sequence.item), items, tuple(map(function, sequence.head)))


def by_dtypes(function: Callable[[_D], _D], value: Value) -> Value:
    """The value with a function applied to each set of dtypes in it."""
    mapped: Callable[[Any], Any] = partial(by_dtypes, function)
    match value:
        case DtypeSet():
            return cast(Value, function(cast(_D, value)))
        case ModelOutput(tensor=tensor):
            return ModelOutput(mapped(tensor))
        case Model(parameters=parameters):
            return replace(value, parameters=mapped(parameters))
        case Sequence():
            return of_each_item(mapped, value)
        case Dictionary(item=item, items=items, default=default):
            kept = None if items is None else tuple((key, mapped(one)) for key, one in items)
            return Dictionary(mapped(item), kept, mapped(default))
        case OneOf(members=members):
            return OneOf(tuple(map(mapped, members)))
        case Partial(function=called, arguments=arguments, keywords=keywords):
            of_keywords = tuple((name, mapped(one)) for name, one in keywords)
            return Partial(mapped(called), tuple(map(mapped, arguments)), of_keywords)
        case AutocastContext(dtype=dtype):
            return replace(value, dtype=dtype and mapped(dtype))
        case Instance(fields=fields, parameters=parameters):
            of_fields = tuple((name, mapped(one)) for name, one in fields)
            return replace(value, fields=of_fields, parameters=mapped(parameters))
        case Mixed():
            return by_facet(mapped, value)
    return value


# Readers


def tensor_of(value: Tensor | ModelOutput) -> Tensor:
    """The tensor that a model's output is, or holds."""
    return value.tensor if isinstance(value, ModelOutput) else value


def reading(value: Value) -> Value:
    """What someone who reads a value takes it for: never a `Mixed`.

    A tensor that may be an array or a container as well is a `ModelOutput`: a tensor where it is
    used as one. So is a container of tensors that may be something else. A tensor that may be a
    container of anything else may be something else; and what holds no tensor at all is unknown.
    What somebody gives is that where nothing is in the container in its place: `callbacks=()`.
    """
    if not isinstance(value, Mixed):
        return value
    containers = [each for each in (value.sequence, value.mapping) if each is not None]
    if isinstance(value.other, Variable) and _is_empty_beside(value, containers):
        return value.other
    items = [reading(each.item) for each in containers]
    held = [tensor_of(item) for item in items if isinstance(item, Tensor | ModelOutput)]
    if value.tensor is None:
        return ModelOutput(_vague(reduce(join_tensors, held))) if held else UNKNOWN
    tensor = reduce(join_tensors, held, tensor_of(value.tensor))
    if value.array is not None or len(held) < len(containers):
        tensor = replace(_vague(tensor), scalar=None)
    is_output = isinstance(value.tensor, ModelOutput) or value.array is not None or held
    return ModelOutput(tensor) if is_output else tensor


def _is_empty_beside(value: Mixed, containers: list[Sequence | Dictionary]) -> bool:
    """True for a value that can be containers with nothing in them, besides its last facet."""
    are_empty = all(isinstance(each.item, Bottom) for each in containers)
    return are_empty and value.tensor is None and value.array is None


def reading_of_several(value: Value) -> Value:
    """What someone takes a value for that is joined of what several calls give.

    What is a tensor in one call and an array in another is a tensor where that one is made.
    """
    match value:
        case Mixed(tensor=Tensor() as tensor, array=NonTensor()):
            return replace(_vague(tensor), scalar=None)
    return reading(value)


def by_facet(function: Callable[[Value], Value], value: Value) -> Value:
    """The join of what a function makes of each facet."""
    if not isinstance(value, Mixed):
        return function(value)
    facets = (value.tensor, value.array, value.sequence, value.mapping, value.other)
    return join_all([function(facet) for facet in facets if facet is not None])


def deep_reading(value: Value) -> Value:
    """The same for what containers hold, too."""
    match reading(value):
        case Sequence() as sequence:
            return of_each_item(deep_reading, sequence)
        case Dictionary(item=item, items=items):
            return Dictionary(
                deep_reading(item),
                None if items is None else tuple((key, deep_reading(one)) for key, one in items),
            )
        case read:
            return read
