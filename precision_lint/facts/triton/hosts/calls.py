"""What host functions are given, and what they return, across the files of a project."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TypeVar

from precision_lint.facts.triton.dtypes import HALF
from precision_lint.facts.triton.hosts.expressions import Expressions
from precision_lint.facts.triton.hosts.reach import Reach
from precision_lint.facts.triton.hosts.run import Run
from precision_lint.facts.triton.hosts.scopes import Host, Site
from precision_lint.facts.triton.hosts.values import (
    ANYTHING,
    HostValue,
    OneOf,
    Open,
    Several,
    joined,
)
from precision_lint.facts.triton.values import UNKNOWN, Pointer

_T = TypeVar("_T")
_Values = tuple[tuple[str, HostValue], ...]

_DEEPEST = 4
"""Calls within calls that are evaluated; what lies deeper is not known."""
_MOST_RUNS = 400
"""Evaluations for the sake of one file."""
_MOST_CALLERS = 12


class Calls:
    """Evaluates host functions on demand, and keeps what it found."""

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self._runs: dict[Host, Run] = {}
        self._running: set[Host] = set()
        self._results: dict[tuple[Host, _Values, _Values], Run | None] = {}
        self._depth = 0

    def run(self, host: Host) -> Run | None:
        """A function as its callers in the project call it; None while it is evaluated."""
        if host not in self._runs:
            if host in self._running or len(self._runs) > _MOST_RUNS:
                return None
            self._running.add(host)
            given, asked = self._given(host)
            run = Run(host, given, self)
            run.asked |= asked
            self._runs[host] = run
            self._running.discard(host)
        return self._runs[host]

    # What a function is given

    def _given(self, host: Host) -> tuple[dict[str, HostValue], set[str]]:
        """The parameters, and the names of those that callers give half precision."""
        if host.owner is not None and host.name == "backward":
            return self._gradients(host), set()
        sites = self.reach.callers(host, _MOST_CALLERS)
        if not sites:
            return {}, set()
        calls = [self._arguments(host, site) for site in sites]
        given: dict[str, HostValue] = {}
        asked: set[str] = set()
        for name in host.parameters:
            # What a call leaves out is the default, which the function knows.
            values = [ANYTHING if c is None else c[name] for c in calls if c is None or name in c]
            if not values:
                continue
            key = host.key(name)
            match joined(values):
                case Pointer(elements=dtypes) if not dtypes.isdisjoint(HALF):
                    # One caller gives half precision: others may give anything.
                    given[name] = Open(frozenset({key}))
                    asked.add(key)
                case Open(names=names):
                    # That another caller gives float32 is no choice of this function.
                    or_wide = any(isinstance(value, Open) and value.or_wide for value in values)
                    given[name] = Open(names | {key}, or_wide)
                case value:
                    given[name] = value
        return given, asked

    def _arguments(self, host: Host, site: Site) -> Mapping[str, HostValue] | None:
        """What a call gives to each parameter; None if that is not known."""
        run = self.run(site.host)
        if run is None:
            return None
        return self.bound(host, site.call, lambda node: run.at(site.statement, node))

    def bound(
        self, host: Host, call: ast.Call, value: Callable[[ast.expr], _T]
    ) -> dict[str, _T] | None:
        if any(isinstance(one, ast.Starred) for one in call.args) or any(
            keyword.arg is None for keyword in call.keywords
        ):
            return None
        names = host.positional[host.is_bound or _takes_ctx(host) :]
        given = {name: value(node) for name, node in zip(names, call.args, strict=False)}
        given |= {k.arg: value(k.value) for k in call.keywords if k.arg is not None}
        return given

    def _gradients(self, host: Host) -> dict[str, HostValue]:
        """Autograd gives a backward pass tensors of the dtypes that the forward pass returned."""
        run = self._forward(host)
        if run is None:
            return {}
        result = run.result()
        values = result.values if isinstance(result, Several) else (result,)
        return dict(zip(host.positional[1:], values, strict=False))

    def _forward(self, host: Host) -> Run | None:
        forward = self.reach.method(host, "forward")
        return None if forward is None else self.run(forward)

    # What else code gets

    def of_forward(self, host: Host, name: str) -> tuple[HostValue, set[str]]:
        """What the forward pass saved for a backward pass, or an attribute of `ctx` that it set."""
        run = self._forward(host) if host.name != "forward" else None
        if run is None:
            return UNKNOWN, set()
        context = self.reach.method(host, "setup_context")
        source = run
        if context is not None and (of_context := self._in_context(context, run)) is not None:
            source = of_context
        asked = run.asked | source.asked
        if not name:
            return (OneOf(tuple(source.saved)) if source.saved else UNKNOWN), asked
        return source.noted.get(name, UNKNOWN), asked

    def _in_context(self, context: Host, forward: Run) -> Run | None:
        """`setup_context(ctx, inputs, output)`, which gets what the forward pass has."""
        inputs = Several(
            tuple(Open(frozenset({forward.host.key(name)})) for name in forward.host.parameters)
        )
        names = context.positional[1:]
        given = dict(zip(names, (inputs, forward.result()), strict=False))
        return self._evaluated(context, given, {})

    def free(self, host: Host, name: str) -> HostValue:
        """A variable of an enclosing function, or of the file."""
        enclosing = host.enclosing
        while enclosing is not None:
            if isinstance(enclosing.node, ast.Module):
                return self._top_level(enclosing, name)
            run = self.run(enclosing)
            if run is not None and name in run.variables:
                return run.variables[name]
            if name in enclosing.stored:
                return UNKNOWN
            enclosing = enclosing.enclosing
        return UNKNOWN

    def _captured(self, host: Host, at: Expressions) -> dict[str, HostValue]:
        """The variables of the calling function that a function defined in it reads."""
        if at.host is not host.enclosing or isinstance(at.host.node, ast.Module):
            return {}
        return {n: at.variables[n] for n in host.read - host.stored if n in at.variables}

    def _top_level(self, top: Host, name: str) -> HostValue:
        assigned = top.module.assignments.get(name, ())
        if len(assigned) != 1 or assigned[0] is None:
            return UNKNOWN
        return Expressions(Host(top.module, top.node), self).evaluate(assigned[0])

    def result(self, at: Expressions, call: ast.Call) -> HostValue:
        """What a call of a function of the project returns."""
        if self._depth >= _DEEPEST:
            return UNKNOWN
        called = self.reach.called(at.host, call.func)
        if called is None or called is at.host:
            return UNKNOWN
        given = self.bound(called, call, at.evaluate)
        if given is None:
            return UNKNOWN
        run = self._evaluated(called, given, self._captured(called, at))
        if run is None:
            return UNKNOWN
        at.asked |= run.asked
        return run.result()

    def known_after(self, at: Expressions, call: ast.Call) -> Mapping[str, HostValue]:
        """What variables are, by what a call that is true says of its arguments.

        `if not supports(x): return None`, where `supports` returns True for float32 only.
        """
        called = None if self._depth >= _DEEPEST else self.reach.called(at.host, call.func)
        if called is None or called is at.host:
            return {}
        nodes = self.bound(called, call, lambda node: node)
        given = self.bound(called, call, at.evaluate)
        if nodes is None or given is None:
            return {}
        run = self._evaluated(called, given, self._captured(called, at))
        if run is None:
            return {}
        return {
            node.id: value
            for name, node in nodes.items()
            if isinstance(node, ast.Name) and isinstance(value := run.if_true(name), Pointer)
        }

    def _evaluated(
        self, host: Host, given: dict[str, HostValue], captured: Mapping[str, HostValue]
    ) -> Run | None:
        """A function for what one call gives it, and what it reads of the function around it."""
        key = host, _by_name(given), _by_name(captured)
        if key not in self._results:
            if len(self._results) > _MOST_RUNS:
                return None
            self._results[key] = None  # while it is evaluated
            self._depth += 1
            self._results[key] = Run(host, given, self, captured)
            self._depth -= 1
        return self._results[key]


def _by_name(values: Mapping[str, HostValue]) -> _Values:
    return tuple(sorted(values.items(), key=lambda item: item[0]))


def _takes_ctx(host: Host) -> bool:
    """True for the forward pass of an autograd function, which `apply` gives a context."""
    return host.owner is not None and host.positional[:1] == ["ctx"]
