"""What can be asked about the program of a run; `evaluation` answers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Protocol

from precision_lint.facts.runs.environment import RunEnvironment
from precision_lint.facts.runs.known import Known
from precision_lint.source.python.parse import ParsedPython


class Questions(Protocol):
    """Answers what expressions come to in one run, and what is reached."""

    run: RunEnvironment

    def value(self, node: ast.expr, file: ParsedPython) -> Known | None:
        """What an expression of a file of the program comes to."""

    def truth(self, node: ast.expr, file: ParsedPython) -> bool | None:
        """Whether a condition holds; None if that is not known."""

    def reaches(self, node: ast.AST, file: ParsedPython) -> bool:
        """False if a condition around a node certainly fails."""

    def reaches_function(self, function: ast.AST, work: Callable[[], bool | None]) -> bool | None:
        """Whether a function is called, worked out once."""
