"""Where an expression of a program is, and what can be asked about it in one run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Protocol

from precision_lint.facts.runs.interpreter.known import Items, Known
from precision_lint.facts.runs.interpreter.objects import Objects
from precision_lint.facts.runs.interpreter.questions import Questions
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

MAX_CALLS = 8
"""Calls of one function that must agree on an argument."""


@frozen
class Place:
    """Where an expression is, and what the parameters of its function are given."""

    file: ParsedPython
    given: Mapping[str, Known | None] = field(default_factory=dict)
    depth: int = 0
    bound: Mapping[str, Known] = field(default_factory=dict)
    """What the variables of a loop are."""

    def deeper(self) -> Place:
        return replace(self, depth=self.depth + 1)

    def with_names(self, bound: Mapping[str, Known] | None) -> Place:
        """The same place in one pass of a loop."""
        return replace(self, bound={**self.bound, **bound}) if bound else self

    @property
    def syntax(self) -> SyntaxTree:
        return syntax_tree(self.file)


@frozen(eq=False, slots=False)
class Miss:
    """A value of a setting that the program has no use for, and the error that it raises."""

    known: Known
    node: ast.expr | ast.stmt
    file: ParsedPython
    error: str
    accepted: tuple[str, ...] = ()


class Evaluation(Questions, Protocol):
    """Says what expressions come to; `evaluation` does."""

    missed: list[Miss]

    def at(self, node: ast.expr, place: Place) -> Known | None:
        """What an expression comes to at a place."""

    def items(self, name: str) -> Items | None:
        """The words that an option takes, for one that is declared to take several."""

    def noted(self, known: Known | None) -> Known | None:
        """A setting that is read."""

    def objects(self, place: Place) -> Objects:
        """Makes what calls at a place make."""
