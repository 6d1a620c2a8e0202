"""Calls that are left to others: to threads, processes, pools, event loops and records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.lattice import reading
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    ClassObject,
    Dictionary,
    FunctionValue,
    Instance,
    Model,
    Partial,
    Sequence,
    Value,
)
from precision_lint.facts.dtypes.syntax.held_calls import held_calls

Call = Callable[[Value, CallSite], Value]

HANDING = frozenset(
    {
        "submit", "to_thread", "run_sync", "run_in_executor", "apply_async", "Thread", "Process",
        "spawn",
    }
)  # fmt: skip
"""The names of calls that have another function called."""


def called(name: str, given: CallSite, call: Call) -> Value | None:
    """What a call of this name gives that has another function called; None if it has none.

    A future is a list of one result: both `result()` and `get()` take it out.
    """
    match name:
        case "submit":
            found = _called(call, given, given.arguments[:1], given.arguments[1:])
            return None if found is None else Sequence(found)
        case "to_thread" | "run_sync":
            return _called(call, given, given.arguments[:1], given.arguments[1:])
        case "run_in_executor":
            return _called(call, given, given.arguments[1:2], given.arguments[2:])
        case "apply_async":
            found = _packed(call, given, given.arguments[:1], "kwds")
            return None if found is None else Sequence(found)
        case "Thread" | "Process" if "target" in given.keywords:
            found = _packed(call, given, (given.keywords["target"],), "kwargs")
            return None if found is None else UNKNOWN
        case "spawn":
            rank = Argument(UNKNOWN, given.span)
            found = _packed(call, given, given.arguments[:1], "", rank)
            return None if found is None else UNKNOWN
    return None


def _called(
    call: Call,
    given: CallSite,
    function: tuple[Argument, ...],
    arguments: tuple[Argument, ...],
    keywords: dict[str, Argument] | None = None,
) -> Value | None:
    match [reading(each.value) for each in function]:
        case [FunctionValue() | Partial() | Instance() | Model() as target]:
            named = {**given.keywords} if keywords is None else keywords
            return call(target, replace(given, arguments=arguments, keywords=named))
    return None


def _packed(
    call: Call, given: CallSite, function: tuple[Argument, ...], mapping: str, *first: Argument
) -> Value | None:
    """A call whose arguments are given as a tuple, and as a mapping of this name."""
    packed = given.find(1, "args")
    arguments = first
    match None if packed is None else reading(packed.value):
        case Sequence(items=tuple(items)):
            arguments += tuple(Argument(each, given.span) for each in items)
        case None:
            pass
        case _:
            return None
    keywords: dict[str, Argument] = {}
    if mapping in given.keywords:
        match reading(given.keywords[mapping].value):
            case Dictionary(items=tuple(pairs)):
                keywords = {str(name): Argument(each, given.span) for name, each in pairs}
            case _:
                return None
    return _called(call, given, function, arguments, keywords)


def call_held(made: Instance, given: CallSite, call: Call) -> None:
    """Call what a record holds with the keyword arguments that it holds, as its module does."""
    for each in held_calls(made.definition):
        function = reading(made.field(each.function) or UNKNOWN)
        mapping = reading(made.field(each.mapping) or UNKNOWN)
        match function, mapping:
            case ((FunctionValue() | ClassObject() | Partial()), Dictionary(items=tuple(pairs))):
                unknown = Argument(UNKNOWN, given.span)
                named = {str(name): Argument(value, given.span) for name, value in pairs}
                keywords = dict.fromkeys(each.keywords, unknown) | named
                inner = replace(given, arguments=(unknown,) * each.positions, keywords=keywords)
                call(function, inner)
