"""What nested functions close over, for as long as a file is analyzed."""

from __future__ import annotations

from collections.abc import Mapping

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import Value
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.syntax.definitions import Function


class Closures(dict[Function, Mapping[str, Value]]):
    """All that is known where nested functions are defined, and later.

    An environment holds the functions that close over it. Such cycles keep the trees of all modules
    that they lead to, so they are broken in the end.
    """

    def __init__(self) -> None:
        super().__init__()
        self._environments: list[Environment] = []

    def over(self, frame: Frame, env: Environment) -> Mapping[str, Value]:
        """What a function that is defined here sees."""
        self._environments.append(env)
        return frame.closing_over(env)

    def close(self) -> None:
        """The file is analyzed: no function is called any more."""
        for env in self._environments:
            env.clear()
        self._environments.clear()
        self.clear()
