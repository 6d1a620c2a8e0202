"""What an expression in a kernel can be: a tensor, a pointer, something known at compile time."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

from precision_lint.facts.triton.dtypes import ANY, HALF, Dtypes
from precision_lint.facts.triton.module import JitFunction
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen

_NOWHERE: frozenset[str] = frozenset()


@frozen
class Trace:
    """A mark on a value that an evaluation finds again in what is computed from it."""

    kind: Literal[
        "grid", "product", "late", "wide", "doubtful", "load", "update", "double", "exact"
    ]
    place: Span
    parameter: str | None = None


NO_TRACES: frozenset[Trace] = frozenset()
_MAX_TRACES = 32
"""Of one value; what bears more is not followed."""


def merged(traces: frozenset[Trace], other: frozenset[Trace]) -> frozenset[Trace]:
    """The traces of what is computed from two values."""
    found = traces | other
    return found if len(found) <= _MAX_TRACES else NO_TRACES


@frozen
class Provenance:
    """What a value was computed from, to learn from its uses what the parameters are.

    `base` is the parameter at the front of a sum, which a pointer would be; `parameters` the
    scalars that take part, `elements` the pointers whose loaded elements take part.
    """

    base: str | None = None
    parameters: frozenset[str] = _NOWHERE
    elements: frozenset[str] = _NOWHERE
    traces: frozenset[Trace] = NO_TRACES

    def merge(self, other: Provenance, *, is_sum: bool = False) -> Provenance:
        """The provenance of an operation on two values."""
        return Provenance(
            (self.base or other.base) if is_sum else None,
            self.parameters | other.parameters,
            self.elements | other.elements,
            merged(self.traces, other.traces),
        )


NO_PROVENANCE = Provenance()


@frozen
class Tensor:
    """A run-time value: rank 0 is a scalar, None a rank that is not known.

    It `has_many` elements if it certainly has more than one. `loads` are the loads whose
    half-precision elements it was computed from without a cast.
    """

    dtypes: Dtypes
    rank: int | None = None
    loads: frozenset[Span] = field(default=frozenset(), compare=False)
    provenance: Provenance = field(default=NO_PROVENANCE, compare=False)
    has_many: bool = field(default=False, compare=False)


@frozen
class Pointer:
    """A pointer, a block of pointers or a tensor descriptor, by what it points to."""

    elements: Dtypes
    rank: int | None = 0
    parameter: str | None = field(default=None, compare=False)
    has_many: bool = field(default=False, compare=False)
    traces: frozenset[Trace] = field(default=NO_TRACES, compare=False)
    """Those of the offsets that were added to it."""


class _NotKnown:
    def __repr__(self) -> str:
        return "?"


NOT_KNOWN = _NotKnown()


@frozen
class Constant:
    """A value fixed at compile time, `NOT_KNOWN` if it differs between compilations.

    `is_number` tells a number that is not known from what may also be a dtype or None; `dtypes` are
    what such a number would be as a tensor, if the launches show it.
    """

    value: object = NOT_KNOWN
    is_number: bool = False
    dtypes: Dtypes = frozenset()

    @property
    def is_known(self) -> bool:
        return self.value is not NOT_KNOWN


def agreed(values: Iterable[Constant | None]) -> Constant | None:
    """The constant that all of several are; None if one is not known, or they differ.

    `1 == True` in Python, but Triton compiles them differently.
    """
    several = {(None if value is None else type(value.value), value) for value in values}
    return several.pop()[1] if len(several) == 1 else None


@frozen
class TypeRef:
    """A dtype as a value: `tl.float32`, `x.dtype`. `is_pointer` for `tl.pointer_type(...)`."""

    dtypes: Dtypes
    is_pointer: bool = False


@frozen
class Items:
    """A tuple or list."""

    values: tuple[Value, ...]


@frozen
class Function:
    """Something callable, by qualified name: `triton.language.load`; or a helper."""

    name: str
    helper: JitFunction | None = None


@frozen
class Method:
    """`x.to`, waiting to be called."""

    receiver: Value
    name: str


@frozen
class Unknown:
    """Anything, such as the result of a function that is not known.

    `elements` are the pointers whose elements went into it.
    """

    elements: frozenset[str] = field(default=_NOWHERE, compare=False)


Value = Tensor | Pointer | Constant | TypeRef | Items | Function | Method | Unknown

UNKNOWN = Unknown()
COMPILE_TIME = Constant()
"""Fixed at compile time, but not here: `BLOCK`."""
NUMBER_NOT_KNOWN = Constant(is_number=True)
NONE = Constant(None)


@frozen
class Arguments:
    """The values of a call's arguments, and the expressions that they come from."""

    positional: tuple[Value, ...]
    keywords: Mapping[str, Value]
    nodes: Mapping[int | str, ast.expr] = field(default_factory=dict)

    def get(self, position: int, keyword: str) -> Value | None:
        if keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[position] if position < len(self.positional) else None

    def of(self, receiver: Value, call: ast.Call) -> Arguments:
        """The same for `x.f(...)`, whose first argument is `x`."""
        nodes: dict[int | str, ast.expr] = {
            key + 1 if isinstance(key, int) else key: node for key, node in self.nodes.items()
        }
        if isinstance(call.func, ast.Attribute):
            nodes[0] = call.func.value
        return Arguments((receiver, *self.positional), self.keywords, nodes)

    def node(self, position: int, keyword: str) -> ast.expr | None:
        return self.nodes.get(keyword, self.nodes.get(position))


def join(left: Value, right: Value) -> Value:
    """What a value is if it is one or the other."""
    match left, right:
        case Tensor(), Tensor():
            return Tensor(
                left.dtypes | right.dtypes,
                left.rank if left.rank == right.rank else None,
                left.loads | right.loads,
                left.provenance.merge(right.provenance, is_sum=True),
                left.has_many and right.has_many,
            )
        case Pointer(), Pointer():
            return Pointer(
                left.elements | right.elements,
                left.rank if left.rank == right.rank else None,
                left.parameter if left.parameter == right.parameter else None,
                left.has_many and right.has_many,
                merged(left.traces, right.traces),
            )
        case Constant(), Constant():
            if left == right:
                return left
            numbers = (int, float)
            is_number = all(c.is_number or isinstance(c.value, numbers) for c in (left, right))
            return Constant(is_number=is_number)
        case TypeRef(), TypeRef() if left.is_pointer == right.is_pointer:
            return TypeRef(left.dtypes | right.dtypes, left.is_pointer)
        case Items(), Items() if len(left.values) == len(right.values):
            return Items(tuple(map(join, left.values, right.values)))
    return left if left == right else UNKNOWN


def differ(left: Value, right: Value) -> bool:
    """True if the types of two values certainly differ.

    Not of a tensor and a pointer: a parameter that no use shows to be a pointer is taken for a
    number.
    """
    match left, right:
        case Tensor(), Tensor():
            return left.dtypes.isdisjoint(right.dtypes) or _ranks_differ(left.rank, right.rank)
        case Pointer(), Pointer():
            return left.elements.isdisjoint(right.elements) or _ranks_differ(left.rank, right.rank)
        case Items(), Items():
            return len(left.values) != len(right.values) or any(
                map(differ, left.values, right.values)
            )
    return False


def redefined(before: Value, after: Value) -> bool:
    """True if a variable certainly cannot be assigned `after` in a branch or a loop.

    What is fixed at compile time, by annotation or launch, is no number that may vary.
    """
    match before, after:
        case Constant(), Tensor() | Pointer():
            return True
    return differ(before, after)


def _ranks_differ(left: int | None, right: int | None) -> bool:
    return left is not None and right is not None and left != right


def broadcast(*values: Value) -> int | None:
    """The rank of an operation on several values."""
    ranks = [
        value.rank if isinstance(value, Tensor | Pointer) else None if value == UNKNOWN else 0
        for value in values
    ]
    known = [rank for rank in ranks if rank is not None]
    return max(known, default=0) if len(known) == len(ranks) else None


def derived(dtypes: Dtypes, rank: int | None, *inputs: Value) -> Value:
    """A tensor computed from `inputs`; unknown if Triton rejects every combination of dtypes."""
    if not dtypes:
        return UNKNOWN
    loads: frozenset[Span] = frozenset()
    provenance = NO_PROVENANCE
    for value in inputs:
        if isinstance(value, Tensor):
            loads |= value.loads
            provenance = provenance.merge(value.provenance)
    loads = frozenset() if dtypes.isdisjoint(HALF) else loads
    return Tensor(dtypes, rank, loads, provenance, have_many(*inputs))


def have_many(*inputs: Value) -> bool:
    """True if what is computed element by element from these has more than one element."""
    return any(isinstance(value, Tensor | Pointer) and value.has_many for value in inputs)


def is_only(value: Value | None, dtypes: Dtypes) -> bool:
    """True for elements that certainly have one of the dtypes."""
    return isinstance(value, Tensor) and bool(value.dtypes) and value.dtypes <= dtypes


def origins(*values: Value) -> frozenset[str]:
    """The pointers whose elements went into values."""
    found: frozenset[str] = frozenset()
    for value in values:
        match value:
            case Tensor(provenance=provenance):
                found |= provenance.elements
            case Unknown():
                found |= value.elements
            case Items():
                found |= origins(*value.values)
    return found


def anything(rank: int | None = None) -> Tensor:
    """A tensor whose dtype is not known."""
    return Tensor(ANY, rank)
