"""How one body is interpreted: its frame, what it closes over, the regions around it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.facts.dtypes.domain.calls import Region
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import join
from precision_lint.facts.dtypes.domain.values import Constant, Value
from precision_lint.facts.dtypes.interpreter import outer_variables
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.interpreter.statements import StatementInterpreter
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.dtypes.syntax.relevance import Slice
from precision_lint.facts.dtypes.whole_program.regions import Regions

_DEPTH = 6
"""Calls inside calls that are followed."""


class Activations:
    """Interprets the bodies of functions, one inside the other."""

    def __init__(self, analysis: Interprocedural, regions: Regions) -> None:
        self._analysis = analysis
        self._regions = regions
        self._depth = 0

    @property
    def is_too_deep(self) -> bool:
        """True if no further call is followed from here."""
        return self._depth > _DEPTH

    def run(
        self,
        definition: Function,
        env: Environment,
        within: Slice | None,
        *,
        records: bool,
        region: Region | None = None,
        asked_name: str | None = None,
    ) -> Frame:
        """Interpret the statements of a body in a slice; `region` is around its callers."""
        node = definition.node
        frame = Frame(
            definition.module,
            definition.name,
            definition,
            definition.class_of_self,
            self._analysis.closures.get(definition),
            records,
            within,
            asked_name=asked_name,
        )
        self._depth += 1
        try:
            outer = [] if region is None else [region]
            frame.autocast = [*outer, *self._regions.opened_for(definition)]
            body = StatementInterpreter(self._analysis, frame)
            outer_variables.enter(self._analysis, frame, env)
            if isinstance(node, ast.Lambda):
                frame.returned = body.changes.expression(node.body, env)
                frame.exits.append(env)
            elif body.block(node.body, env):
                frame.returned = join(frame.returned, Constant(None))
                frame.exits.append(env)
            if not frame.exits:  # `while True:` without an end: what it changes is changed
                frame.exits.append(env)
            if records:
                self._analysis.records.variables(definition, frame.exits)
        finally:
            self._depth -= 1
        return frame

    def run_closing_over(
        self,
        closure: Mapping[str, Value] | None,
        definition: Function,
        env: Environment,
        within: Slice | None,
        region: Region | None,
    ) -> Frame:
        """Interpret a body for its result; a closure that a value carries is used for it alone."""
        closures = self._analysis.closures
        before = closures.get(definition)
        if closure is not None:
            closures[definition] = closure
        try:
            return self.run(definition, env, within, records=False, region=region)
        finally:
            if before is not None:
                closures[definition] = before
