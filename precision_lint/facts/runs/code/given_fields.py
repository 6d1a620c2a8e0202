"""Which calls of a program give the fields of a class: whether an object may have a default."""

from __future__ import annotations

import ast
import re

from precision_lint.facts.runs.code.made_classes import extending
from precision_lint.facts.runs.interpreter.classes import record
from precision_lint.facts.runs.interpreter.program import Program, keyword_of
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted


@frozen
class GivenFields:
    """Finds out what the calls of classes in a program give to their fields."""

    program: Program

    def kin(self, owner: str, name: str) -> frozenset[str]:
        """A class and those that extend it without a field of the name."""
        below = extending(owner, self.program.project)
        own = [each for each in below if self._has_field(each, name)]
        others = (each for first in own for each in extending(first, self.program.project))
        return frozenset((owner, *below)).difference(own, others)

    def running(self, owner: str, name: str) -> list[tuple[ParsedPython, ast.Call]]:
        """The calls of a class that may run, and of those that extend it without the field."""
        calls = self._calls(owner, name)
        return [row for row in calls if may_run(row[1], row[0], self.program)]

    def is_given(self, owner: str, name: str) -> bool:
        """True for a field of a class that each of its calls gives which may run."""
        return bool(owner and self._calls(owner, name)) and all(
            self._gives(call, name) for _, call in self.running(owner, name)
        )

    def is_of_no_object(self, owner: str, name: str) -> bool:
        """True for a field whose class always sets it itself, and for one of which all objects are
        of classes below with a field of their own.
        """
        if any(_sets(each, name) for _, each in self.program.classes(owner)):
            return True
        below = {owner, *extending(owner, self.program.project)} - self.kin(owner, name)
        return any(map(self.program.calls, below)) and not self._calls(owner, name)

    def _calls(self, owner: str, name: str) -> list[tuple[ParsedPython, ast.Call]]:
        kin = sorted(self.kin(owner, name))
        return [row for each in kin for row in self.program.calls(each)]

    def _gives(self, call: ast.Call, name: str) -> bool:
        """True for a call that gives a field, by its name or by its position."""
        if keyword_of(call, name) is not None:
            return True
        kind = record(callee_name(call), self.program) if call.args else None
        fields = [each.name for each in kind.fields] if kind is not None else []
        is_known = name in fields and not any(isinstance(each, ast.Starred) for each in call.args)
        return is_known and fields.index(name) < len(call.args)

    def _has_field(self, owner: str, name: str) -> bool:
        """True for a class that declares a field itself."""
        return any(
            isinstance(target, ast.Name) and target.id == name
            for _, each in self.program.classes(owner)
            for statement in each.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for target in getattr(statement, "targets", [getattr(statement, "target", None)])
        )


def _sets(owner: ast.ClassDef, name: str) -> bool:
    """True for a class whose objects get a member after their arguments, whatever these say."""
    return any(
        isinstance(statement, ast.Assign)
        and any(dotted(target) == f"self.{name}" for target in statement.targets)
        and not re.search(rf"\b{re.escape(name)}\b", ast.unparse(statement.value))
        for method in owner.body
        if isinstance(method, FunctionDefinition) and method.name == "__post_init__"
        for statement in method.body
    )
