"""A variable of a program in one run: its value after the statements before the place of a read.

Conditions that are known are decided. A loop, or a block that may not run, leaves it unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from precision_lint.facts.runs.known import Known, Options, agreed, truth
from precision_lint.source.python.statements import blocks
from precision_lint.source.python.syntax_tree import Scope


@dataclass(frozen=True, slots=True)
class Walk:
    """Follows one variable through statements, up to the place where it is read."""

    value: Callable[[ast.expr], Known | None]
    """What an expression of the function comes to."""
    name: str
    end: tuple[int, int] | None
    """The row and the column where the variable is read; None for the end of the block."""
    stores: Sequence[ast.Name]
    """Where its scope binds it."""

    def after(self, body: Sequence[ast.stmt], known: Known | None) -> Known | None:
        """The value after the statements of a block, given the one before it."""
        for statement in body:
            if self.end is not None and (statement.lineno, statement.col_offset) >= self.end:
                break
            known = self._past(statement, known)
        return known

    def is_changed(self, scope: Scope) -> bool:
        """True if a method may change what the variable holds."""
        return any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == self.name
            and node.func.attr.startswith(("update", "pop", "setdefault", "merge", "override"))
            for node in ast.walk(scope)
        )

    def _past(self, statement: ast.stmt, known: Known | None) -> Known | None:
        """The value after a statement."""
        match statement:
            case ast.Assign(targets=[target], value=value):
                return self._bound(target, value, known)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return self._bound(target, value, known)
            case ast.If(test=test, body=body, orelse=orelse):
                if not self._binds(statement):
                    return known
                if self._reads_in(body):
                    return self.after(body, known)
                if self._reads_in(orelse):
                    return self.after(orelse, known)
                decision = self.value(test)
                holds = truth(decision)
                if holds is None or decision is None:
                    return agreed([self.after(body, known), self.after(orelse, known)])
                found = self.after(body if holds else orelse, known)
                if found is not None and found.written is None and decision.written is not None:
                    return decision.derived(found.value)
                return found
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    if item.optional_vars is not None:
                        known = self._bound(item.optional_vars, item.context_expr, known)
                return self.after(statement.body, known)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return None if statement.name == self.name else known
        if not self._binds(statement):
            return known
        inner = [block.body for block in blocks(statement)]
        around = next((body for body in inner if self._reads_in(body)), None)
        if around is not None and isinstance(statement, ast.Try):
            return self.after(around, known)
        return None

    def _bound(self, target: ast.expr, value: ast.expr, known: Known | None) -> Known | None:
        match target:
            case ast.Name(id=name):
                return self.value(value) if name == self.name else known
            case ast.Tuple(elts=items) if any(
                isinstance(item, ast.Name) and item.id == self.name for item in items
            ):
                if isinstance(value, ast.Tuple) and len(value.elts) == len(items):
                    for item, one in zip(items, value.elts, strict=True):
                        if isinstance(item, ast.Name) and item.id == self.name:
                            return self.value(one)
                whole = self.value(value)
                is_options = whole is not None and isinstance(whole.value, Options)
                return whole if is_options else None
        return known

    def _reads_in(self, body: Sequence[ast.stmt]) -> bool:
        """True if a block contains the place where the variable is read."""
        if self.end is None or not body:
            return False
        last = body[-1]
        first = (body[0].lineno, body[0].col_offset)
        return first <= self.end <= (last.end_lineno or 0, last.end_col_offset or 0)

    def _binds(self, statement: ast.stmt) -> bool:
        start = statement.lineno, statement.col_offset
        end = statement.end_lineno or 0, statement.end_col_offset or 0
        return any(start <= (node.lineno, node.col_offset) < end for node in self.stores)
