"""Which statements of a body can matter to the question at hand; the others are not interpreted.

A backward slice that does not look at the order of statements: what a question reads, what is
assigned to that, and so on. Control flow is always kept, for it decides what reaches what.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from precision_lint.source.text import SourceText

_TELLING = re.compile(r"dtype|float16|bf16|autocast")
"""Parts of names that rules ask for by themselves."""

_NAME = re.compile(r"(?<![\w.])(?:self\.)?[^\W\d]\w*")
"""A variable, or an attribute of `self`. Words in strings are read along: a slice may be larger."""


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


def effects(body: list[ast.stmt], source: SourceText) -> Iterator[Effect]:
    """The effects of a body's statements, nested ones too; not those of nested definitions."""
    pending = body[::-1]
    while pending:
        node = pending.pop()
        yield _effect(node, source)
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


def _effect(node: ast.stmt, source: SourceText) -> Effect:
    writes: set[str] = set()
    targets: list[ast.expr | None] = []
    last_row = node.end_lineno or node.lineno
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            writes.add(node.name)
        case ast.If(test=head) | ast.While(test=head) | ast.Match(subject=head):
            last_row = head.end_lineno or last_row
        case ast.For(target=target, iter=head) | ast.AsyncFor(target=target, iter=head):
            targets, last_row = [target], head.end_lineno or last_row
        case ast.With(items=items) | ast.AsyncWith(items=items):
            targets = [item.optional_vars for item in items]
            last_row = node.body[0].lineno - 1 or last_row
        case ast.Try():
            last_row = node.lineno
        case ast.Assign(targets=assigned):
            targets = [*assigned]
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            targets = [target]
        case ast.Expr(value=ast.Call() as call):
            writes |= _changed_by(call)
    for target in targets:
        writes |= _written(target)
    text = source.rows(node.lineno, max(last_row, node.lineno))
    if ":=" in text:
        writes |= {child.target.id for child in ast.walk(node) if isinstance(child, ast.NamedExpr)}
    is_kept = isinstance(node, _ALWAYS) or _TELLING.search(text) is not None
    ends = node.lineno if isinstance(node, _DEFINITIONS) else last_row
    return Effect(node, frozenset(writes), frozenset(_NAME.findall(text)), is_kept, ends)


_ALWAYS = (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Delete)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _written(target: ast.expr | None) -> set[str]:
    """The variables, and attributes of `self`, that a target changes."""
    match target:
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            return set[str]().union(*map(_written, targets))
        case ast.Starred(value=inner):
            return _written(inner)
        case None:
            return set()
    return _roots(target)


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
