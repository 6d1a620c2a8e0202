"""The analysis of one file: the calls that rules asked for, with the facts at each.

It has two phases. First each body with such a call is interpreted *by itself*. For the calls that
this leaves open, the file is interpreted again, and callers, classes and other files are
*followed*, as far as the budget allows. What is beyond that keeps the facts of the first phase.

A rule gets the facts that its own question leads to: those of the second phase on the rows that are
open for it, else those of the first. What other rules ask at the same time changes none of them.
"""

from __future__ import annotations

import ast
from contextlib import closing
from dataclasses import replace

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call, Calls, Region
from precision_lint.facts.dtypes.interpreter.asked import Asked
from precision_lint.facts.dtypes.interpreter.budget import BudgetExceeded
from precision_lint.facts.dtypes.interpreter.configuration import Scenario
from precision_lint.facts.dtypes.syntax.bodies import functions_at
from precision_lint.facts.dtypes.whole_program.interpretation import Interpretation, Subject

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
        *,
        is_aside: bool = False,
    ) -> None:
        self._subject = Subject(file, asked, scenario, around, is_aside=is_aside)
        self._unreached: set[ast.expr] = set()
        """The calls to which nothing in the project comes."""

    def run(self) -> list[Calls]:
        """For each question, the calls that it asks for, with the facts at each."""
        asked, imports = self._subject.asked, self._subject.module.imports
        answers = [Calls(imports, question.asker) for question in asked.questions]
        try:
            for calls, found in zip(answers, self._found(), strict=True):
                calls.fill(found)
        except BudgetExceeded:  # facts of a loop that was not interpreted to its end prove nothing
            for calls in answers:
                calls.is_complete = False
        finally:
            self._subject.close()
        return answers

    def _found(self) -> list[list[Call]]:
        asked, module = self._subject.asked, self._subject.module
        alone: dict[ast.expr, Call] = {}
        if rows := asked.rows(module):
            with closing(Interpretation(self._subject, alone, is_intraprocedural=True)) as first:
                first.tracing.file(module, rows)
        open_rows = asked.open_rows(alone)
        every = sorted(frozenset[int]().union(*open_rows))
        followed = self._followed(alone, every) if every else alone
        return [
            [
                call
                for found, is_followed in ((alone, False), (followed, True))
                for node, call in found.items()
                if question.asks_for(call) and (node.lineno in rows_of_it) is is_followed
                if not (is_followed and node in self._unreached)
            ]
            for question, rows_of_it in zip(asked.questions, open_rows, strict=True)
        ]

    def _followed(self, alone: dict[ast.expr, Call], rows: list[int]) -> dict[ast.expr, Call]:
        """The calls after callers, classes and other files were looked at."""
        self._subject.budget.go_beyond()
        found = dict(alone)
        with closing(Interpretation(self._subject, found, is_intraprocedural=False)) as whole:
            try:
                whole.tracing.file(self._subject.module, rows)
                self._resolve(whole, rows)
            except _TOO_MUCH:
                return {**alone, **self._followed_one_by_one(whole, rows)}
        return found

    def _followed_one_by_one(self, whole: Interpretation, rows: list[int]) -> dict[ast.expr, Call]:
        """The calls of those bodies for which a share of the budget is enough.

        What was found out about other functions before the budget was spent is known. What one body
        leaves of its share is for the others.
        """
        budget = self._subject.budget
        followed: dict[ast.expr, Call] = {}
        bodies = list(functions_at(self._subject.module, rows))
        count, share = budget.share(len(bodies))
        left = share * min(count, len(bodies))
        for number, body in enumerate(bodies):
            if left <= 0:
                break
            begun = budget.spent
            budget.begin_share(max(left // (len(bodies) - number), min(share, left)))
            whole.records.found = {}
            try:
                whole.tracing.again(body, frozenset(rows))
                self._resolve(whole, rows)
                followed.update(whole.records.found)
            except _TOO_MUCH:
                pass
            left -= budget.spent - begun
        return followed

    def _resolve(self, interpretation: Interpretation, rows: list[int]) -> None:
        """Ask the callers for what the calls at some rows leave open, and for their regions."""
        module = self._subject.module
        found, wanted = interpretation.records.found, frozenset(rows)
        for node, call in sorted(found.items(), key=lambda item: item[1].span):
            if node.lineno in wanted:
                around = [*functions_at(module, [node.lineno])][-1:]
                if not all(interpretation.reaching.comes_to(each, call.guards) for each in around):
                    self._unreached.add(node)
                    continue
                resolved = interpretation.resolve.call(call)
                if resolved.autocast is None:
                    regions = map(interpretation.regions.of_followed_callers, around)
                    resolved = replace(resolved, autocast=next(regions, None))
                found[node] = resolved
