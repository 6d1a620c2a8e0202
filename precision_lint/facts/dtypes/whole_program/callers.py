"""What the callers of a function give to its parameters: they are found, traced and joined."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import (
    by_dtypes,
    join,
    join_all,
    reading,
    reading_of_several,
)
from precision_lint.facts.dtypes.domain.terms import Root
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    UNKNOWN,
    Bottom,
    Constant,
    DtypeSet,
    FunctionValue,
    Instance,
    Mixed,
    OneOf,
    Unknown,
    Value,
    Variable,
)
from precision_lint.facts.dtypes.interpreter import defaults
from precision_lint.facts.dtypes.interpreter.entries import Table
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.dtypes.whole_program.callbacks import Callbacks
from precision_lint.facts.dtypes.whole_program.calling import Calling
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.parameters import as_given, bound
from precision_lint.facts.dtypes.whole_program.resolution import Resolution
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.facts.origin import Setting
from precision_lint.model.dtypes import BFLOAT16, HALF

_MOST_CALLERS = 24
"""Bodies that are asked what they give to a function."""

_MOST_ROUNDS = 4
"""How often a parameter is worked out that its function gives to itself."""

_D = TypeVar("_D", bound=DtypeSet)


class Callers:
    """What is given to parameters, so that terms can be resolved."""

    def __init__(
        self,
        analysis: Interprocedural,
        classes: Classes,
        calling: Calling,
        callbacks: Callbacks,
        tracing: Tracing,
        table: Table,
    ) -> None:
        self._analysis = analysis
        self._classes = classes
        self._calling = calling
        self._callbacks = callbacks
        self._tracing = tracing
        self._table = table
        self.resolve = Resolution(analysis, self._given, table.note)
        """Replaces terms by what callers give to the parameters that they start from."""
        self.cycles = 0
        """How often a parameter was needed while it was being worked out."""
        self._given_values: dict[Root, Value] = {}
        self._being_given: dict[Root, Value] = {}
        """The parameters whose callers are being asked, with what is known of them so far."""
        self._handed_in: set[Function] = set()
        """The functions that are handed to others, which call them."""
        self._asked: dict[Function, bool] = {}
        """The functions whose callers were traced, and whether there are more."""

    def _given(self, root: Root) -> Value:
        """What the callers of a function give to a parameter; what it declares if nobody calls."""
        if root in self._given_values:
            return self._given_values[root]
        if root in self._being_given:  # a call of itself hands on what it was given
            self.cycles += 1
            return self._being_given[root]
        cycles = self.cycles
        value: Value = BOTTOM
        self._being_given[root] = value
        try:
            for _ in range(_MOST_ROUNDS):
                before, value = value, self._joined(root)
                if cycles == self.cycles or value == before:
                    break
                self._being_given[root] = value
            shown = self._given_at(root, is_shown=True)
        finally:
            del self._being_given[root]
        read = UNKNOWN if isinstance(value, Bottom) else reading_of_several(value)
        value = as_given(self._analysis, root.definition, root.name, read)
        value = _with_shown(value, shown)
        if cycles == self.cycles:  # else it is a part of what another root is given
            self._given_values[root] = value
            self._table.note(lambda: self._given_values.pop(root, None))
        return value

    def _joined(self, root: Root) -> Value:
        """The join of what all callers give, but for those in documents."""
        is_open = self._trace(root.definition)
        self._bind_open_calls(root.definition)
        self._bind_open_functions(root.definition)
        given = self._given_at(root, is_shown=False)
        # the callers that were not asked may give anything
        return join(given, UNKNOWN) if is_open else given

    def _given_at(self, root: Root, *, is_shown: bool) -> Value:
        """What the calls give that are in documents, or that are not."""
        definition, name, records = root.definition, root.name, self._analysis.records
        given: Value = BOTTOM
        # lists: resolving what a call gives may trace more calls
        for node, env in list(records.call_sites.get(definition, {}).items()):
            if name in env and (node in records.shown) == is_shown:
                handed = self._handed_on(node, name, env[name])
                is_unclear = isinstance(handed, Mixed) and handed.array is not None
                given = join(given, reading(handed) if is_unclear else handed)
        return given

    def _trace(self, definition: Function) -> bool:
        """Trace the callers of a function; true if there are some that cannot be read."""
        if definition not in self._asked:
            found = list(islice(self._calling.bodies(definition), _MOST_CALLERS + 1))
            taking = list(islice(self._callbacks.taking(definition), _MOST_CALLERS))
            if taking:
                self._handed_in.add(definition)
                found += taking
            self._table.note(lambda: self._asked.pop(definition, None))
            self._asked[definition] = len(found) > _MOST_CALLERS or any(
                caller is None for caller, _ in found
            )
            try:
                for caller, rows in found[:_MOST_CALLERS]:
                    if caller is not None:
                        self._tracing.body(caller, rows)
                self._trace_shown(definition)
            except BaseException:
                del self._asked[definition]
                raise
        return self._asked[definition]

    def _trace_shown(self, definition: Function) -> None:
        """Trace the calls of a function that documents show, as far as a budget of its own goes."""
        budget = self._analysis.budget
        shown = self._calling.shown(definition) if budget.may_go_aside else ()
        for program, rows in shown:
            if budget.may_go_aside:
                with budget.aside():
                    self._tracing.body(program, rows)

    def _bind_open_calls(self, method: Function) -> None:
        """Take the calls of a method's name for calls of it where their object is of its class."""
        if method.owner is None or isinstance(method.node, ast.Lambda):
            return
        records = self._analysis.records
        sites = records.call_sites.setdefault(method, {})
        for node, (receiver, given) in list(records.open_calls.get(method.node.name, {}).items()):
            if node not in sites and self._classes.is_object_of(
                method.owner, reading(self.resolve(receiver))
            ):
                sites[node] = bound(self._analysis, method, Instance(method.owner), given)

    def _bind_open_functions(self, definition: Function) -> None:
        """Take the calls of what is handed in for calls of a function where it is handed in."""
        if definition not in self._handed_in:
            return
        records = self._analysis.records
        sites = records.call_sites.setdefault(definition, {})
        for node, (function, given) in list(records.open_functions.items()):
            if node not in sites and (found := [*self._handing(definition, function, given)]):
                names = dict.fromkeys(name for env in found for name in env)
                known = {name: join_all([env.get(name, BOTTOM) for env in found]) for name in names}
                sites[node] = Environment(known)

    def _handing(
        self, definition: Function, function: Variable, given: CallSite
    ) -> Iterator[Environment]:
        """What a function gets from where it is handed to; each place hands its own values, too."""
        self.resolve(function)  # so that the callers are traced
        for taking in dict.fromkeys(term.root.definition for term in function.terms):
            for env in list(self._analysis.records.call_sites.get(taking, {}).values()):
                resolve = Resolution(self._analysis, partial(_of_call, taking, env))
                found = reading(self.resolve(resolve(function)))
                for each in found.members if isinstance(found, OneOf) else (found,):
                    called = self._called(each)
                    if called is not None and called.definition is definition:
                        given_there = resolve.given(given)
                        yield bound(self._analysis, definition, called.receiver, given_there)

    def _called(self, value: Value) -> FunctionValue | None:
        """The function that a call of something runs: itself, or the `__call__` of an object."""
        match value:
            case FunctionValue():
                return value
            case Instance(definition=definition):
                method = self._classes.method(definition, "__call__")
                return None if method is None else FunctionValue(method, value)
        return None

    def _handed_on(self, node: ast.AST, name: str, value: Value) -> Value:
        """What a call site gives to a parameter; the site is part of the way of a dtype.

        Of a call that a document shows, others choose the dtype as they like.
        """
        site = self._analysis.records.sites[node]
        is_shown = node in self._analysis.records.shown

        def through(dtypes: _D) -> _D:
            origin = None if dtypes.origin is None else dtypes.origin.through(site)
            is_open = is_shown or dtypes.caller_chosen
            return replace(dtypes, origin=origin, caller_chosen=is_open)

        resolved = self.resolve(value)
        if isinstance(resolved, Constant) and defaults.names_dtype(resolved):
            return defaults.given_to(name, resolved, site.source, site.span)
        return by_dtypes(through, resolved)


def _with_shown(known: Value, shown: Value) -> Value:
    """What a parameter can be, with what documents give to it: they add to it, and no more.

    Others may call the function as well, and do what they like. So a document adds bfloat16, and
    objects that have no weights: what else it gives is one of many values.
    """
    if BFLOAT16 in _named_by(shown):
        return join(known, shown) if HALF & _named_by(known) else shown
    is_object = isinstance(shown, Instance) and shown.parameters is None
    return shown if is_object and isinstance(known, Unknown) else known


def _named_by(value: Value) -> frozenset[str]:
    """The dtypes that something has or names."""
    found: set[str] = set()

    def note(dtypes: _D) -> _D:
        found.update(dtypes.dtypes)
        return dtypes

    match value:
        case Setting(choices=choices):
            found.update(*(as_dtype(Constant(choice.value)).dtypes for choice in choices))
        case _:
            by_dtypes(note, value)
    return frozenset(found)


def _of_call(definition: Function, given: Environment, root: Root) -> Value | None:
    """What a call of a function gives to one of its parameters; None for those of others."""
    return given.get(root.name, UNKNOWN) if root.definition is definition else None
