"""How many expressions are evaluated for one file, and how they are shared out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_INTRAPROCEDURAL_BUDGET = 250_000
"""Expressions that are evaluated for one file by itself: some seconds."""

_INTERPROCEDURAL_BUDGET = 32_000
"""Expressions that are evaluated beyond that: about a second."""

_SIDE_BUDGET = 6_000
"""The same for what one rule asks besides: few calls of a file, or a run in half precision."""

_SMALL_BUDGET = 4_000
"""The same for tests, benchmarks and vendored code, whose findings are mostly not shown, and for
files that name no torch, which seldom get tensors."""

_ASIDE_BUDGET = 4_000
"""Expressions that are evaluated for one file in documents, besides all of these."""

_PROGRAM_BUDGET = 3_000
"""The same for the run of a file as a program."""

_ELSEWHERE_BUDGET = 1_000
"""Expressions that are evaluated in such a run for what other modules do, besides these."""

_QUESTION_BUDGET = 2_000
"""Expressions that are evaluated for one question whose answer may stay open."""

_LEAST_SHARE = 1_000
"""Expressions that are evaluated for one body where the budget is not enough for all."""


class BudgetExceeded(Exception):
    """The budget for one file is spent."""


class Budget:
    """The budget of one file: first for the file by itself, then for whatever it reaches."""

    def __init__(self, *, is_small: bool, is_aside: bool = False) -> None:
        self.spent = 0
        self._limit = _INTRAPROCEDURAL_BUDGET
        self._beyond = _SIDE_BUDGET if is_aside else _INTERPROCEDURAL_BUDGET
        if is_small:
            self._beyond = _SMALL_BUDGET
        self._until = self._limit
        """Where what is evaluated now ends: the limit, or that of a question."""
        self._is_beyond = False
        self._is_shared = False
        self._aside = _ASIDE_BUDGET
        self.is_aside = False
        """True while what is evaluated costs the rest of the file nothing: see `aside`."""

    def count(self) -> None:
        """One more expression is evaluated.

        Raises:
            BudgetExceeded: the budget is spent.
        """
        self.spent += 1
        if self.spent > self._until:
            raise BudgetExceeded

    def go_beyond(self) -> None:
        """What the file says by itself is known: callers, classes and other files are next."""
        self._is_beyond = True
        self._limit = self._until = self.spent + self._beyond

    def begin_program(self) -> None:
        """The file is run as a program: what other modules do in it has a budget of its own."""
        self._beyond = _PROGRAM_BUDGET
        self._aside = _ELSEWHERE_BUDGET
        self.go_beyond()

    def share(self, bodies: int) -> tuple[int, int]:
        """How many of some bodies get a share of the budget beyond the file, and how much each."""
        each = max(_LEAST_SHARE, self._beyond // (2 * bodies + 1))
        return self._beyond // each, each

    def begin_share(self, expressions: int) -> None:
        """One body is interpreted with no more than its share."""
        self._is_shared = True
        self._limit = self._until = self.spent + expressions

    @contextmanager
    def for_a_question(self) -> Iterator[None]:
        """What is evaluated in this block for one question ends where its share is spent.

        Raises:
            BudgetExceeded: the budget of the file is spent.
        """
        until = self._until
        self._until = min(until, self.spent + _QUESTION_BUDGET)
        try:
            yield
        except BudgetExceeded:
            if self.spent > until:
                raise
        finally:
            self._until = until

    @property
    def may_go_aside(self) -> bool:
        """True if what documents show, or other modules do, can still be followed."""
        return self._aside > 0 and not self._is_shared

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is evaluated in this block costs the rest of the file nothing.

        It ends where its own budget is spent: what was found out until then is known.
        """
        start, limit, until, beyond = self.spent, self._limit, self._until, self._beyond
        was_aside, self.is_aside = self.is_aside, True
        self._limit, self._beyond = start + self._aside, self._aside
        self._until = self._limit
        try:
            yield
        except BudgetExceeded:
            pass
        finally:
            self.is_aside = was_aside
            self._aside -= self.spent - start
            self.spent, self._limit, self._beyond = start, limit, beyond
            self._until = until

    def is_running_late(self) -> bool:
        """True if no time is left to compute recursive entries again."""
        is_half_spent = self._limit - self.spent < self._beyond // 2
        return self._is_shared or (is_half_spent and self._is_beyond)
