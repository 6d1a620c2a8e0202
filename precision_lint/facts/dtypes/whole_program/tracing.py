"""Tracing: bodies interpreted with what all of their callers give, for what is at some rows.

It starts at the calls that rules asked for, and goes on with whatever decides what these are given:
callers, autocast regions, methods that assign an attribute.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import join_all
from precision_lint.facts.dtypes.domain.values import UNKNOWN, Instance, Value
from precision_lint.facts.dtypes.interpreter.asked import Asked
from precision_lint.facts.dtypes.interpreter.entries import Table
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.interpreter.statements import StatementInterpreter
from precision_lint.facts.dtypes.syntax.bodies import Body, functions_at
from precision_lint.facts.dtypes.syntax.definitions import Function, Module
from precision_lint.facts.dtypes.syntax.relevance import Slice, backward_slice, rows_of, rows_within
from precision_lint.facts.dtypes.whole_program.activations import Activations
from precision_lint.facts.dtypes.whole_program.parameters import bind_self, entry_state
from precision_lint.facts.dtypes.whole_program.regions import Regions
from precision_lint.source.python.statements import holds, rows_in


class Tracing:
    """The bodies that were traced so far, each for the sake of some rows."""

    def __init__(
        self,
        analysis: Interprocedural,
        asked: Asked,
        activations: Activations,
        regions: Regions,
        table: Table,
    ) -> None:
        self._analysis = analysis
        self._asked = asked
        self._activations = activations
        self._regions = regions
        self._table = table
        self._traced: dict[Body, frozenset[int]] = {}
        self._running: dict[Body, frozenset[int]] = {}
        """The rows of bodies that are being traced: what they record is not all there yet."""

    def file(self, module: Module, rows: list[int]) -> None:
        """Trace every body of a module that holds one of some rows."""
        functions = [*functions_at(module, rows)]
        if outside := frozenset(rows).difference(*map(_rows_below, functions)):
            self._module(module, outside)
        for definition in functions:
            self.function(definition, frozenset(rows_in(definition.node, rows)))

    def body(self, body: Body, rows: frozenset[int]) -> None:
        """Trace the top level of a module or a function."""
        if isinstance(body, Module):
            self._module(body, rows)
        else:
            self.function(body, rows)

    def _module(self, module: Module, rows: frozenset[int]) -> None:
        """Interpret the top level of a module, as far as the statements at some rows need it."""
        rows -= self._done(module)
        if not rows:
            return
        tree = module.file.tree
        within = backward_slice(module.def_uses(tree), self._asked.criterion(rows))
        frame = Frame(module, records=True, slice=within)
        with self._marking(module, rows, lambda: rows_within(module.effects, within)):
            StatementInterpreter(self._analysis, frame).block(tree.body, Environment())

    def again(self, definition: Function, rows: frozenset[int]) -> None:
        """Interpret a function once more: what it needs of others is known by now."""
        self._traced.pop(definition, None)
        self.function(definition, rows)

    def left_by_top(self, module: Module, name: str) -> Value:
        """What the top level of a module leaves in one of its variables."""
        tree = module.file.tree
        within = module.fact(
            (Tracing, name),
            lambda: backward_slice(module.effects, lambda effect: name in effect.writes),
        )
        env = Environment()
        StatementInterpreter(self._analysis, Frame(module, slice=within)).block(tree.body, env)
        return env.get(name, UNKNOWN)

    def left_by_method(self, method: Function, receiver: Instance, name: str) -> Value:
        """What a method leaves in an attribute of an object, if it runs to an end; or bottom."""
        env = entry_state(self._analysis, method)
        bind_self(method, env, receiver)
        within = self._slice(method, method.rows_assigning(name))
        region = self._regions.of_callers(method, self.body)
        frame = self._activations.run(method, env, within, records=False, region=region)
        path = f"{method.parameters[0].arg}.{name}"
        return join_all([end[path] for end in frame.exits if path in end.paths])

    def left_under_name(
        self, method: Function, receiver: Instance, name: str, rows: frozenset[int]
    ) -> tuple[Value, frozenset[str]]:
        """What a method leaves in an attribute that it assigns by a computed name; or bottom.

        With the names that it takes, if it says which.
        """
        env = entry_state(self._analysis, method)
        bind_self(method, env, receiver)
        within = self._slice(method, rows)
        frame = self._activations.run(method, env, within, records=False, asked_name=name)
        path = f"{method.parameters[0].arg}.{name}"
        left = join_all([end[path] for end in frame.exits if path in end.paths])
        return left, frozenset(frame.asked_among)

    def left_in_object(
        self, method: Function, receiver: Instance, known: Environment, names: Iterable[str]
    ) -> Instance | None:
        """An object after a method that assigns some of its fields; None if that is not known."""
        if self._activations.is_too_deep:
            return None
        env = entry_state(self._analysis, method)
        env.update(known)
        bind_self(method, env, receiver)
        rows = frozenset[int]().union(*(method.rows_assigning(name) for name in names))
        frame = self._activations.run(method, env, self._slice(method, rows), records=False)
        left = join_all([end[method.parameters[0].arg] for end in frame.exits])
        return left if isinstance(left, Instance) else None

    def function(self, definition: Function, rows: frozenset[int]) -> None:
        """Interpret a function with what its callers give it, for the statements at some rows."""
        rows = self._own(definition, rows) - self._done(definition)
        if not rows:
            return
        with self._marking(definition, rows, lambda: self._rows_within(definition, within)):
            if definition.enclosing is not None:  # what it closes over
                self.function(definition.enclosing, rows | {definition.node.lineno})
            within = self._slice(definition, rows)
            env = entry_state(self._analysis, definition)
            region = self._regions.of_callers(definition, self.body)
            self._activations.run(definition, env, within, records=True, region=region)

    def running(self, definition: Function) -> frozenset[int]:
        """The rows for whose sake a function is being traced."""
        return self._running.get(definition, frozenset())

    def _own(self, definition: Function, rows: frozenset[int]) -> frozenset[int]:
        """Those of some rows that stand in the body itself: the others select nothing in it."""
        if isinstance(definition.node, ast.Lambda):
            return frozenset(row for row in rows if holds(definition.node, [row]))
        return rows & definition.module.fact(
            (rows_of, definition.node), lambda: rows_of(definition.def_uses)
        )

    def _slice(self, definition: Function, rows: frozenset[int]) -> Slice:
        """The statements that those at some rows depend on: many files ask for the same."""
        asked = self._asked
        return definition.module.fact(
            (Tracing, definition.node, rows, asked.wants_dtypes),
            lambda: backward_slice(definition.def_uses, asked.criterion(rows)),
        )

    def _rows_within(self, definition: Function, within: Slice) -> frozenset[int]:
        """The rows for which a slice is enough: tracing them again would show nothing new."""
        return definition.module.fact(
            (Tracing, definition.node, within), lambda: rows_within(definition.def_uses, within)
        )

    def _done(self, body: Body) -> frozenset[int]:
        return self._traced.get(body, frozenset())

    @contextmanager
    def _marking(
        self, body: Body, rows: frozenset[int], shown: Callable[[], frozenset[int]]
    ) -> Iterator[None]:
        """Some rows of a body are traced in this block, which shows what is at others as well.

        The others count as traced at the end: what is traced in the meantime may be about them.
        """
        self._traced[body] = self._done(body) | rows
        around = self._running.get(body, frozenset())
        self._running[body] = around | rows
        added = set(rows)

        def undo() -> None:
            self._traced[body] = self._done(body) - added

        try:
            with self._table.recording(undo):
                yield
                added |= shown() - self._done(body)
                self._traced[body] = self._done(body) | added
        except BaseException:
            undo()
            raise
        finally:
            self._running[body] = around


def _rows_below(definition: Function) -> range:
    """The rows of a function below the first one, which the top level evaluates as well."""
    return range(definition.node.lineno + 1, (definition.node.end_lineno or 0) + 1)
