"""What can be asked about the program of a run; `evaluation` answers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Protocol

from precision_lint.facts.runs.environment import RunEnvironment
from precision_lint.source.python.parse import ParsedPython


class Questions(Protocol):
    """Answers which conditions hold in one run, and what is reached."""

    run: RunEnvironment

    def truth(self, node: ast.expr, file: ParsedPython) -> bool | None:
        """Whether a condition holds; None if that is not known."""

    def reaches_function(self, function: ast.AST, work: Callable[[], bool | None]) -> bool | None:
        """Whether a function is called, worked out once."""
