"""Evaluates a kernel, and lets each subject watch what it is about."""

from __future__ import annotations

import ast

from precision_lint.facts.triton.expressions import Patches
from precision_lint.facts.triton.language import Version
from precision_lint.facts.triton.module import JitFunction
from precision_lint.facts.triton.notes.doubles import Doubles, without_doubles
from precision_lint.facts.triton.notes.numbers import Numbers
from precision_lint.facts.triton.notes.offsets import Offsets
from precision_lint.facts.triton.notes.scene import Call, Scene
from precision_lint.facts.triton.notes.sights import Key, Observation
from precision_lint.facts.triton.notes.sums import Sums, accumulator
from precision_lint.facts.triton.notes.tf32 import MatrixProducts
from precision_lint.facts.triton.notes.updates import Updates
from precision_lint.facts.triton.values import Arguments, Pointer, Tensor, Value
from precision_lint.model.finding import Span


class Observer(Scene):
    """Evaluates one kernel for one choice of parameter types."""

    def __init__(
        self, function: JitFunction, version: Version, patches: Patches | None = None
    ) -> None:
        super().__init__(function.module, version, patches)
        self.observations: dict[Key, Observation] = {}
        """What holds of what was seen; after the run."""
        self.doubles = Doubles(self)
        self.offsets = Offsets(self)
        self.numbers = Numbers(self)
        self._sums = Sums(self)
        self._updates = Updates(self, function)
        self._products = MatrixProducts(self)

    def run(self, function: JitFunction, parameters: dict[str, Value]) -> Value:
        found = super().run(function, parameters)
        self.observations = self.offsets.without_indices(self.seen)
        return found

    def _execute(self, statement: ast.stmt) -> None:
        name = accumulator(statement)
        before = self.frame.variables.get(name)
        super()._execute(statement)
        if before is not None:
            self._sums.accumulated(statement, name, before)

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        found = super().binary(op, left, right)
        match found:
            case Pointer():
                return self.offsets.added(left, right, found)
            case Tensor():
                self.doubles.operated(op, left, right, found)
                self.numbers.operated(op, left, right, found)
                found = self.offsets.operated(op, left, right, found)
                found = self._updates.operated(op, left, right, found)
                return self._products.operated(found)
        return found

    def _comparison(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        self.numbers.compared(op, left, right)
        return super()._comparison(op, left, right)

    def _library(self, path: str, arguments: Arguments, site: Span) -> Value:
        found = without_doubles(super()._library(path, arguments, site))
        package, _, name = path.rpartition(".")
        if not package.startswith("triton.language"):
            return found
        call = Call(name, arguments, site)
        self.doubles.computed(found)
        found = self.offsets.called(call, found)
        self._sums.called(call, found)
        self.numbers.called(call, found)
        found = self._updates.called(call, found)
        return self._products.called(call, found)
