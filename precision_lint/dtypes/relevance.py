"""Which statements of a body can matter to the question at hand; the others are not interpreted.

A backward slice that does not look at the order of statements: what a question reads, what is
assigned to that, and so on. Control flow is always kept, for it decides what reaches what.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_TELLING = ("dtype", "float16", "bf16", "autocast")
"""Parts of names that rules ask for by themselves."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a simple statement, or the head of a compound one, assigns and reads.

    Names are those of variables, and `self.name` for attributes of `self`; `self.*` is any of them.
    """

    node: ast.stmt
    writes: frozenset[str]
    reads: frozenset[str]
    is_kept: bool
    last_row: int


def effects(body: list[ast.stmt]) -> Iterator[Effect]:
    """The effects of a body's statements, nested ones too; not those of nested definitions."""
    pending = body[::-1]
    while pending:
        node = pending.pop()
        yield _effect(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for field in ("finalbody", "orelse", "body"):
            pending += getattr(node, field, [])[::-1]
        for handler in getattr(node, "handlers", ()):
            pending += handler.body[::-1]
        for case in getattr(node, "cases", ()):
            pending += case.body[::-1]


def relevant(found: Iterable[Effect], is_asked: Callable[[Effect], bool]) -> frozenset[ast.stmt]:
    """The statements that what is asked depends on, and those that ask."""
    pending = list(found)
    kept: set[ast.stmt] = set()
    names: set[str] = set()
    for effect in pending:
        if is_asked(effect) or effect.is_kept:
            kept.add(effect.node)
            names |= effect.reads | effect.writes
    is_growing = True
    while is_growing:
        is_growing = False
        rest = []
        reads_self = any(name.startswith("self.") for name in names)
        for effect in pending:
            if effect.node in kept:
                continue
            if effect.writes & names or (reads_self and "self.*" in effect.writes):
                kept.add(effect.node)
                if not effect.reads <= names:
                    names |= effect.reads
                    is_growing = True
            else:
                rest.append(effect)
        pending = rest
    return frozenset(kept)


def _effect(node: ast.stmt) -> Effect:
    writes: set[str] = set()
    reads: set[str] = set()
    is_kept = False
    last_row = node.end_lineno or node.lineno
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            writes.add(node.name)
            heads: list[ast.AST] = [node]
            last_row = node.lineno
        case ast.If(test=test) | ast.While(test=test):
            heads, last_row = [test], test.end_lineno or last_row
        case ast.For(target=target, iter=iterated) | ast.AsyncFor(target=target, iter=iterated):
            heads, last_row = [target, iterated], iterated.end_lineno or last_row
        case ast.With(items=items) | ast.AsyncWith(items=items):
            heads = [
                part
                for item in items
                for part in (item.context_expr, item.optional_vars or item.context_expr)
            ]
            last_row = items[-1].context_expr.end_lineno or last_row
        case ast.Match(subject=subject):
            heads, last_row = [subject], subject.end_lineno or last_row
        case ast.Try():
            heads, last_row = [], node.lineno
        case _:
            heads = [node]
    for head in heads:
        for child in ast.walk(head):
            match child:
                case ast.Name(id=name, ctx=context):
                    (reads if isinstance(context, ast.Load) else writes).add(name)
                    is_kept = is_kept or _is_telling(name)
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=context):
                    is_read = isinstance(context, ast.Load)
                    (reads if is_read else writes).add(f"self.{name}")
                    is_kept = is_kept or _is_telling(name)
                case ast.Attribute(attr=name, value=owner, ctx=ast.Store()):
                    writes |= _roots(owner)
                case ast.Attribute(attr=name):
                    is_kept = is_kept or _is_telling(name)
                case ast.Subscript(value=owner, ctx=ast.Store()):
                    writes |= _roots(owner)
                case ast.keyword(arg=str(name)):
                    is_kept = is_kept or _is_telling(name)
    if isinstance(node, ast.AugAssign):
        reads |= writes
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        writes |= _changed_by(node.value)
    if isinstance(node, ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom | ast.Delete):
        is_kept = True
    return Effect(node, frozenset(writes), frozenset(reads), is_kept, last_row)


def _changed_by(call: ast.Call) -> set[str]:
    """What a call that stands alone may change: its receiver, and what it is given."""
    changed: set[str] = set()
    if isinstance(call.func, ast.Attribute):
        changed |= _roots(call.func.value)
        if isinstance(call.func.value, ast.Name) and call.func.value.id == "self":
            changed.add("self.*")
    for argument in call.args:
        changed |= _roots(argument)
    return changed


def _roots(node: ast.expr) -> set[str]:
    """The variable, or attribute of `self`, that an expression starts from."""
    match node:
        case ast.Name(id="self"):
            return set()
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return {f"self.{name}"}
        case ast.Attribute(value=owner) | ast.Subscript(value=owner) | ast.Starred(value=owner):
            return _roots(owner)
    return set()


def _is_telling(name: str) -> bool:
    return any(part in name for part in _TELLING)
