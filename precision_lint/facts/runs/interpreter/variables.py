"""A variable of a program in one run: its value after the statements before the place of a read.

Conditions that are known are decided. A loop, or a block that may not run, leaves it unknown.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol

from precision_lint.facts.runs.interpreter.known import Holder, Items, Known, agreed, truth
from precision_lint.facts.runs.interpreter.objects import updated
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition, blocks
from precision_lint.source.python.syntax import innermost_name


class Value(Protocol):
    def __call__(
        self, node: ast.expr, bound: Mapping[str, Known] | None = None, /
    ) -> Known | None: ...


_CHANGING = ("update", "pop", "setdefault", "merge", "override", "clear")
_PLAIN = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr
_MOST = 16
"""Items of a loop that are passed."""


@frozen
class Walk:
    """Follows one variable through statements, up to the place where it is read."""

    value: Value
    """What an expression of the function comes to, with values for some names."""
    name: str
    end: tuple[int, int] | None
    """The row and the column where the variable is read; None for the end of the block."""
    stores: Sequence[ast.Name]
    """Where its scope binds it."""
    changes: Sequence[ast.expr] = ()
    """Where something may change what it holds."""
    bound: Mapping[str, Known] = field(default_factory=dict)
    """What the variables of the loops around a statement are in one pass."""
    rows: Sequence[int] = field(init=False)
    """The rows of both, in order."""

    def __post_init__(self) -> None:
        rows = sorted({node.lineno for node in (*self.stores, *self.changes)})
        object.__setattr__(self, "rows", rows)

    def after(self, body: Sequence[ast.stmt], known: Known | None) -> Known | None:
        """The value after the statements of a block, given the one before it."""
        for statement in body:
            if self.end is not None and (statement.lineno, statement.col_offset) >= self.end:
                break
            if not self._concerns(statement):
                continue
            if isinstance(statement, _PLAIN) and self._reads_in([statement]):
                break  # `conf = merged(conf, other)`
            known = self._past(statement, known)
        return known

    def passes(self, statement: ast.stmt) -> bool:
        """True if the variable is bound before a statement, and read after it."""
        is_before = self.end is None or (statement.lineno, statement.col_offset) < self.end
        return is_before and any(store.lineno < statement.lineno for store in self.stores)

    def _concerns(self, statement: ast.stmt) -> bool:
        """False for most statements: nothing in them binds or changes the variable."""
        if isinstance(statement, Definition):
            return True
        index = bisect_left(self.rows, statement.lineno)
        return index < len(self.rows) and self.rows[index] <= (statement.end_lineno or 0)

    def _evaluated(self, node: ast.expr) -> Known | None:
        return self.value(node, self.bound) if self.bound else self.value(node)

    def _past(self, statement: ast.stmt, known: Known | None) -> Known | None:
        """The value after a statement."""
        match statement:
            case ast.Assign(targets=[target], value=value):
                return self._bound(target, value, known)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return self._bound(target, value, known)
            case ast.If(test=test, body=body, orelse=orelse):
                if not self._binds(statement) and not self._changes(statement):
                    return known
                if self._reads_in(body):
                    return self.after(body, known)
                if self._reads_in(orelse):
                    return self.after(orelse, known)
                decision = self._evaluated(test)
                holds = truth(decision)
                if holds is None or decision is None:
                    ways = [block for block in (body, orelse) if not _raises(block)]
                    return agreed([self.after(block, known) for block in ways])
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
            case ast.Expr(value=ast.Call() as call):
                return self._called(call, known)
            case ast.For() if self._changes(statement):
                return self._repeated(statement, known)
            case ast.Try(body=body, orelse=orelse, finalbody=last) if _only_looks(
                body
            ) and not self._reads_in([statement]):
                return self.after([*body, *orelse, *last], known)
        if self._changes(statement):
            return None
        if not self._binds(statement):
            return known
        inner = [block.body for block in blocks(statement)]
        around = next((body for body in inner if self._reads_in(body)), None)
        if around is not None and isinstance(statement, ast.Try):
            return self.after(around, known)
        return None

    def _called(self, call: ast.Call, known: Known | None) -> Known | None:
        """The value after a call: `conf.update(other)`, `setattr(conf, name, value)`."""
        match call:
            case ast.Call(
                func=ast.Attribute(value=holder, attr="update"), args=[other], keywords=[]
            ) if self._is_held(holder):
                return updated(known, self._evaluated(other))
        return None if self._changes(call) else known

    def _is_held(self, holder: ast.expr) -> bool:
        return _held(holder) == self.name

    def _repeated(self, loop: ast.For, known: Known | None) -> Known | None:
        """The value after a loop that changes it: over items that are known, or over those of the
        settings that it takes over.
        """
        match loop:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=value)]),
                iter=ast.Call(func=ast.Attribute(value=other, attr="items"), args=[]),
                body=[ast.Expr(ast.Call(args=[holder, ast.Name(id=name), ast.Name(id=given)]))],
            ) if self._is_held(holder) and (name, given) == (key, value):
                return updated(known, self._evaluated(other))
            case ast.For(target=ast.Name(id=target), iter=items, body=body, orelse=[]):
                whole = self._evaluated(items)
                if whole is None or not isinstance(whole.value, Items) or self._reads_in(body):
                    return None
                if len(whole.value.items) > _MOST or any(map(_may_leave, body)):
                    return None
                for item in whole.value.items:
                    if item is None:
                        return None
                    walk = replace(self, bound={**self.bound, target: item})
                    known = walk.after(body, known)
                return known
        return None

    def _changes(self, statement: ast.stmt | ast.expr) -> bool:
        """True if a statement may change what the variable holds."""
        return _is_any_in(statement, self.changes)

    def _bound(self, target: ast.expr, value: ast.expr, known: Known | None) -> Known | None:
        match target:
            case ast.Name(id=name):
                return self._evaluated(value) if name == self.name else known
            case ast.Tuple(elts=items) if any(
                isinstance(item, ast.Name) and item.id == self.name for item in items
            ):
                if isinstance(value, ast.Tuple) and len(value.elts) == len(items):
                    for item, one in zip(items, value.elts, strict=True):
                        if isinstance(item, ast.Name) and item.id == self.name:
                            return self._evaluated(one)
                whole = self._evaluated(value)
                if whole is not None and isinstance(whole.value, Items):
                    names = [item.id if isinstance(item, ast.Name) else "" for item in items]
                    return whole.value.at(names.index(self.name))
                is_options = whole is not None and isinstance(whole.value, Holder)
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
        return _is_any_in(statement, self.stores)


@fact
def changes(file: ParsedPython) -> Mapping[str, list[ast.expr]]:
    """Where a file may change what variables hold, by their names."""
    found: dict[str, list[ast.expr]] = {}
    for node in file.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=holder, attr=method)) if method.startswith(
                _CHANGING
            ):
                found.setdefault(_held(holder), []).append(node)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name), key, _]) if (
                not isinstance(key, ast.Constant)
            ):
                found.setdefault(name, []).append(node)
            case ast.Subscript(value=ast.Name(id=name), slice=key, ctx=ast.Store()) if (
                not isinstance(key, ast.Constant)
            ):
                found.setdefault(name, []).append(node)
    return found


@fact
def set_by_functions(file: ParsedPython) -> frozenset[str]:
    """The global variables that functions of a file say they assign."""
    return frozenset(
        name for node in file.nodes if isinstance(node, ast.Global) for name in node.names
    )


def _held(holder: ast.expr) -> str:
    """The variable in `conf`, `vars(conf)`, `conf.__dict__`; empty for anything else."""
    match holder:
        case (
            ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id=name)])
            | ast.Attribute(value=ast.Name(id=name), attr="__dict__")
            | ast.Name(id=name)
        ):
            return name
    return ""


def _is_any_in(statement: ast.stmt | ast.expr, nodes: Sequence[ast.expr]) -> bool:
    start = statement.lineno, statement.col_offset
    end = statement.end_lineno or 0, statement.end_col_offset or 0
    return any(start <= (node.lineno, node.col_offset) < end for node in nodes)


def _raises(body: Sequence[ast.stmt]) -> bool:
    """True for a block after which nothing runs, as far as its last statement says."""
    match body[-1:]:
        case [ast.Raise()]:
            return True
        case [ast.If(body=one, orelse=other)]:
            return _raises(one) and _raises(other)
    return False


def _only_looks(body: Sequence[ast.stmt]) -> bool:
    """True for statements in which nothing fails if torch has what they look for:
    `if getattr(torch.cuda.amp, "autocast") is not None: has_native_amp = True`.
    """
    return all(
        (isinstance(node, ast.ImportFrom) and _is_torch(node.module or ""))
        or (isinstance(node, ast.Import) and all(_is_torch(each.name) for each in node.names))
        or (isinstance(node, ast.Call) and innermost_name(node) in ("getattr", "hasattr"))
        or not isinstance(node, ast.Import | ast.ImportFrom | ast.Call | ast.Raise | ast.Assert)
        for statement in body
        for node in walk(statement)
    )


def _is_torch(module: str) -> bool:
    return module.partition(".")[0] == "torch"


def _may_leave(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Break | ast.Continue | ast.Return) for node in walk(statement))
