"""What can be asked about the program of a run; `evaluation` answers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Protocol

from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.known import Known
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.model.memo import T
from precision_lint.source.python.parse import ParsedPython


class Questions(Protocol):
    """Answers which conditions hold in one run, and what is reached."""

    @property
    def program(self) -> Program:
        """The program, whatever the run."""

    @property
    def run(self) -> RunEnvironment:
        """The run: what is worked out with it holds for no other one."""

    @property
    def options(self) -> Known:
        """The options of the program, as the declarations of its parsers say."""

    def option(self, name: str) -> Known | None:
        """An option by its name. What is worked out holds for all runs that do not give it."""

    def value(self, node: ast.expr, file: ParsedPython) -> Known | None:
        """What an expression of a file of the program comes to."""

    def noting(self, work: Callable[[], T]) -> tuple[T, tuple[Occurrence, ...]]:
        """What some work comes to, and the settings that are read for it."""

    def kept(self, work: Callable[[], T]) -> T:
        """What some work comes to that an object keeps: a setting is read where it is taken."""

    def truth(self, node: ast.expr, file: ParsedPython) -> bool | None:
        """Whether a condition holds; None if that is not known."""

    def reaches_function(
        self, function: ast.AST, file: ParsedPython, hops: int, work: Callable[[], bool | None]
    ) -> bool | None:
        """Whether a function of a file is called, as far as some calls are followed."""
