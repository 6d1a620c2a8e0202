"""What a function returns in one run: conditions that are known are decided."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TypeAlias

from precision_lint.facts.runs.interpreter.exits import Exits
from precision_lint.facts.runs.interpreter.known import Known, agreed, truth
from precision_lint.model.frozen import frozen
from precision_lint.source.python.statements import FunctionDefinition


class _End(Enum):
    """How a block ends that returns nothing."""

    FALLS = "the statements after it run"
    RAISES = "nothing runs after it"


_Result: TypeAlias = "Known | _End | None"


@frozen
class Returns:
    """Follows the statements of a function to those that return."""

    value: Callable[[ast.expr], Known | None]
    """What an expression of the function comes to."""
    exits: Exits
    """What may leave a block in its file."""

    def of(self, function: FunctionDefinition) -> Known | None:
        """What the function returns; None if that is not known, or it returns nothing."""
        if function in self.exits.generators:
            return None
        found = self._block(function.body)
        return None if isinstance(found, _End) else found

    def _block(self, body: Sequence[ast.stmt]) -> _Result:
        for index, statement in enumerate(body):
            match statement:
                case ast.Return(value=value):
                    return self.value(value) if value is not None else Known(None)
                case ast.Raise():
                    return _End.RAISES
                case ast.If() if statement in self.exits.ending:
                    found = self._choice(statement, body[index + 1 :])
                case ast.With() | ast.AsyncWith() | ast.Try() if statement in self.exits.ending:
                    found = self._block(statement.body)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    continue
                case _:
                    found = None if statement in self.exits.ending else _End.FALLS
            if found is not _End.FALLS:
                return found
        return _End.FALLS

    def _choice(self, statement: ast.If, rest: Sequence[ast.stmt]) -> _Result:
        decision = self.value(statement.test)
        holds = truth(decision)
        if decision is not None and holds is not None:
            found = self._block(statement.body if holds else statement.orelse)
            if isinstance(found, Known) and found.written is None and decision.written is not None:
                return decision.derived(found.value)
            return found
        ways = [self._block(statement.body), self._block(statement.orelse)]
        after = self._block(rest) if _End.FALLS in ways else None
        ways = [after if way is _End.FALLS else way for way in ways]
        values = [way for way in ways if not isinstance(way, _End)]
        if _End.FALLS in ways:
            values.append(Known(None))
        return agreed(values) if values else _End.RAISES
