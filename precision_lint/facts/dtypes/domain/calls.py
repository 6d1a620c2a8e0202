"""The facts at a call: what is called, on what, with what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import NamedTuple

from precision_lint.facts.dtypes.domain.lattice import deep_reading, reading
from precision_lint.facts.dtypes.domain.terms import Term
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    Dtype,
    Mixed,
    Model,
    ModelOutput,
    Value,
)
from precision_lint.facts.origin import Kind, Origin, PathCondition
from precision_lint.model.dtypes import FLOAT32
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import Memo
from precision_lint.source.text.text import SourceText


@frozen
class Argument:
    """An argument's value and the span of its expression; `starred` for `*args` and `**kwargs`."""

    value: Value
    span: Span
    starred: bool = False

    def read(self) -> Argument:
        """The argument as rules see it: of one kind, and so are the items of a container."""
        value = deep_reading(self.value)
        return self if value is self.value else Argument(value, self.span, self.starred)


@frozen
class Region:
    """An autocast region: its device ("cuda", "cpu" …; None if not known) and its dtype."""

    device: str | None
    dtype: Dtype

    @property
    def of_step(self) -> tuple[str, tuple[str, ...]]:
        """The region as the step of a term has it."""
        terms = (one for clause in self.dtype.clauses for one in clause)
        return self.device or "", tuple(sorted({*self.dtype.dtypes, *map(_name_of, terms)}))


def _name_of(term: Term | str) -> str:
    return term if isinstance(term, str) else term.root.place


class Rejection(NamedTuple):
    """A call of a layer that raises: its input has another dtype than its parameters."""

    place: Origin
    given: str
    parameters: str


@frozen
class CallSite:
    """A call as the transfer functions see it: its place, its arguments, what surrounds it.

    `autocast` is the innermost region that is on; `default_dtype` what `torch.zeros(2)` makes;
    `guards` are the conditions of the `if`s around it.
    """

    source: SourceText
    span: Span
    arguments: tuple[Argument, ...]
    keywords: Mapping[str, Argument]
    autocast: Region | None = None
    default_dtype: str = FLOAT32
    guards: tuple[PathCondition, ...] = ()

    @property
    def values(self) -> list[Value]:
        return [argument.value for argument in self.arguments]

    @property
    def first(self) -> Value:
        return self.arguments[0].value if self.arguments else UNKNOWN

    def argument(self, position: int, keyword: str) -> Value:
        """The value of an argument by position or keyword; unknown if absent or after a star.

        A position below zero is that of an argument that has a keyword only.
        """
        if keyword in self.keywords:
            return self.keywords[keyword].value
        before = self.arguments[: position + 1]
        if not 0 <= position < len(before) or any(argument.starred for argument in before):
            return UNKNOWN
        return before[position].value

    def find(self, position: int | None, keyword: str) -> Argument | None:
        """An argument by position or keyword, or the star that may hold it; None if absent."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        if position is not None and position >= 0:
            before = self.arguments[: position + 1]
            for one in before:
                if one.starred:
                    return replace(one, value=UNKNOWN)
            if len(before) > position:
                return before[position]
        return self.keywords.get("**")

    def read(self) -> CallSite:
        """The call as functions that are not seen take it: each argument of one kind."""
        every = (*self.arguments, *self.keywords.values())
        if Mixed not in [type(one.value) for one in every]:
            return self
        return replace(
            self,
            arguments=tuple(replace(one, value=reading(one.value)) for one in self.arguments),
            keywords={
                name: one if name == "**" else replace(one, value=reading(one.value))
                for name, one in self.keywords.items()
            },
        )

    def origin(self, text: str, kind: Kind = "caller") -> Origin:
        """This call as the place where a dtype comes from."""
        return Origin(self.source, self.span, text, kind, guards=self.guards)


@frozen
class Call:
    """A call that a rule asked for.

    `name` is the last component of the callee, as it is called where it is imported from;
    `function` is its qualified name when that is known (`torch.amp.GradScaler`; for an instance of
    a class of torch, `torch.nn.NLLLoss.forward`, and `name` is the class), `receiver` the value
    before the dot of a method call. `scope` is the qualified name of the enclosing function
    or class body, "" for the module; `guards` are the conditions of the `if`s around the call,
    outermost first; `autocast` the innermost region around it that is on, around the callers of its
    function included; `dtypes` the names that hold a `torch.dtype` at the call, `models`
    those that hold a module where it trains one.
    """

    span: Span
    name: str
    function: str | None
    receiver: Value
    receiver_span: Span | None
    arguments: tuple[Argument, ...]
    keywords: Mapping[str, Argument]
    scope: str
    guards: tuple[PathCondition, ...]
    autocast: Region | None
    dtypes: Mapping[str, Dtype]
    models: Mapping[str, Model]
    module: Calls = field(repr=False)
    called: Value = UNKNOWN
    """The object that is called, if it is one: a module, or a class of the project."""
    rejections: tuple[Rejection, ...] = ()
    """Layers that the call certainly runs and that reject what they are given."""
    way: tuple[Origin, ...] = ()
    """In the run of a program, the calls that lead from its start to this one."""

    def argument(self, position: int, keyword: str) -> Argument | None:
        """An argument by position or keyword; None if absent or after a star."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        before = self.arguments[: position + 1]
        if len(before) <= position or any(argument.starred for argument in before):
            return None
        return before[position]

    @property
    def has_stars(self) -> bool:
        """True if `*args` or `**kwargs` can pass what is not seen here."""
        return any(argument.starred for argument in self.arguments) or "**" in self.keywords

    def value(self, position: int, keyword: str) -> Value:
        argument = self.argument(position, keyword)
        return UNKNOWN if argument is None else argument.value


def as_receiver(value: Value) -> Value:
    """What a method is called on: of what a model returned, the tensor."""
    return value.tensor if isinstance(value, ModelOutput) else value


class Calls(Memo, Sequence[Call]):
    """The calls of one file that somebody asked for (`asker`), in source order."""

    def __init__(self, imports: Mapping[str, str], asker: object = None) -> None:
        self.imports = imports
        """Local to qualified names."""
        self.asker = asker
        self.is_complete = True
        """False if there was too much code to interpret it to its end: then there are no calls."""
        self._calls: list[Call] = []

    def fill(self, calls: Iterable[Call]) -> None:
        own = (replace(call, module=self) for call in calls)
        self._calls = sorted(own, key=lambda call: (call.span.start, -call.span.end))

    def named(self, name: str) -> list[Call]:
        """The calls whose callee ends in `name`."""
        return [call for call in self._calls if call.name == name]

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._calls[index]

    def __len__(self) -> int:
        return len(self._calls)
