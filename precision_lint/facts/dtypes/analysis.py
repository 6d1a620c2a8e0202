"""The analysis of one file: the calls that rules asked for, with the facts at each.

It has two phases. First each body with such a call is interpreted *by itself*. For the calls that
this leaves open, the file is interpreted again, and callers, classes and other files are
*followed*, as far as the budget allows. What is beyond that keeps the facts of the first phase.
"""

from __future__ import annotations

import ast
from contextlib import closing

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.asked import Asked
from precision_lint.facts.dtypes.bodies import functions_at
from precision_lint.facts.dtypes.budget import BudgetExceeded
from precision_lint.facts.dtypes.calls import Call, Calls, Region
from precision_lint.facts.dtypes.configuration import Scenario
from precision_lint.facts.dtypes.interpretation import Interpretation, Subject

_TOO_MUCH = (BudgetExceeded, RecursionError)
"""What stops the second phase: too many expressions, or bodies that lead too deep."""


class InterproceduralAnalysis:
    """The analysis of one file, and of what it reaches in its project.

    A `scenario` says which conditions hold: then the facts are those of one run. `around` is a
    region that other files open around the functions of this one.
    """

    def __init__(
        self,
        file: PythonFile,
        asked: Asked,
        scenario: Scenario | None = None,
        around: Region | None = None,
    ) -> None:
        self._subject = Subject(file, asked, scenario, around)

    def run(self) -> Calls:
        """The calls that were asked for, with the facts at each."""
        calls = self._subject.calls
        try:
            calls.fill(list(self._found().values()))
        except BudgetExceeded:  # facts of a loop that was not interpreted to its end prove nothing
            calls.is_complete = False
        return calls

    def _found(self) -> dict[ast.expr, Call]:
        asked, module = self._subject.asked, self._subject.module
        found: dict[ast.expr, Call] = {}
        if rows := asked.rows(module):
            with closing(Interpretation(self._subject, found, is_intraprocedural=True)) as alone:
                alone.tracing.file(module, rows)
        rows = asked.open_rows(found)
        return self._followed(found, rows) if rows else found

    def _followed(self, alone: dict[ast.expr, Call], rows: list[int]) -> dict[ast.expr, Call]:
        """The calls after callers, classes and other files were looked at."""
        self._subject.budget.go_beyond()
        found = dict(alone)
        with closing(Interpretation(self._subject, found, is_intraprocedural=False)) as whole:
            try:
                whole.tracing.file(self._subject.module, rows)
                self._resolve(whole)
            except _TOO_MUCH:
                return {**alone, **self._followed_one_by_one(rows)}
        return found

    def _followed_one_by_one(self, rows: list[int]) -> dict[ast.expr, Call]:
        """The calls of those bodies for which a share of the budget is enough."""
        budget = self._subject.budget
        followed: dict[ast.expr, Call] = {}
        bodies = list(functions_at(self._subject.module, rows))
        count, share = budget.share(len(bodies))
        for body in bodies[:count]:
            budget.begin_share(share)
            with closing(Interpretation(self._subject, {}, is_intraprocedural=False)) as one:
                try:
                    one.tracing.function(body, frozenset(rows))
                    self._resolve(one)
                except _TOO_MUCH:
                    continue
                followed.update(one.records.found)
        return followed

    def _resolve(self, interpretation: Interpretation) -> None:
        """Ask the callers for what the calls leave open."""
        asked, found = self._subject.asked, interpretation.records.found
        for node, call in sorted(found.items(), key=lambda item: item[1].span):
            if call.name not in asked.intraprocedural and asked.is_worth_a_look(call.name, node):
                found[node] = interpretation.resolve.call(call)
