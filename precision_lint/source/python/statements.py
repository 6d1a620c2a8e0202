"""What a statement of Python is: its blocks, its own expressions, and the names that it binds.

Everything that walks over statements asks here, so that no class of statement is forgotten. The
fields of the `ast` classes decide, not a list of classes: a statement that a later Python adds
has its blocks, too.
"""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple, NoReturn

from precision_lint.source.python.nodes import children, walk

if sys.version_info >= (3, 11):
    TryStar = ast.TryStar
else:

    class TryStar(ast.Try):
        """`try: … except* ValueError: …`. The parser of this Python never makes one."""


if sys.version_info >= (3, 12):
    TypeAlias = ast.TypeAlias
else:

    class TypeAlias(ast.stmt):
        """`type X = int`. The parser of this Python never makes one."""

        name: ast.Name


FunctionDefinition = ast.FunctionDef | ast.AsyncFunctionDef
AnyFunction = FunctionDefinition | ast.Lambda
Definition = FunctionDefinition | ast.ClassDef
Loop = ast.For | ast.AsyncFor | ast.While
With = ast.With | ast.AsyncWith
Try = ast.Try | TryStar
Leaving = ast.Return | ast.Raise | ast.Break | ast.Continue
"""Statements that control never passes."""

_ENDING = frozenset({"_exit", "exit", "skip", "skipTest", "xfail"})
"""Calls that never return: `os._exit(…)`, `pytest.skip(…)`, `self.skipTest(…)`, `sys.exit(…)`."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
"""What has a scope of its own."""


def is_leaving(node: ast.stmt) -> bool:
    """True for a statement that control never passes, calls that never return included."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name))):
            return name in _ENDING and owner in {"os", "pytest", "self", "sys"}
        case ast.Expr(value=ast.Call(func=ast.Name("exit" | "quit"))):
            return True
    return isinstance(node, Leaving)


class BlockKind(Enum):
    """When a block runs; the value is the field of the statement that holds it."""

    BODY = "body"
    HANDLER = "handlers"
    CASE = "cases"
    ORELSE = "orelse"
    FINALLY = "finalbody"


class Block(NamedTuple):
    """A list of statements inside of a statement."""

    kind: BlockKind
    body: list[ast.stmt]


_KINDS = {
    statement: tuple((kind, kind.value) for kind in BlockKind if kind.value in statement._fields)
    for statement in ast.stmt.__subclasses__()
}
_BINDING = frozenset(
    statement
    for statement in ast.stmt.__subclasses__()
    if not {"name", "names", "handlers", "cases", "target", "targets", "items"}.isdisjoint(
        statement._fields
    )
)
"""The classes of statements that can bind names: most statements are of others."""


def blocks(node: ast.stmt) -> list[Block]:
    """The blocks of a compound statement in the order of the source; none of a simple one."""
    found: list[Block] = []
    for kind, field in _KINDS[type(node)]:
        held = getattr(node, field)
        if kind is BlockKind.HANDLER or kind is BlockKind.CASE:
            found += [Block(kind, each.body) for each in held]
        elif held:
            found.append(Block(kind, held))
    return found


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement at or below a body; `ast.walk` would visit every expression too."""
    pending = [*reversed(body)]
    while pending:
        node = pending.pop()
        yield node
        if _KINDS[type(node)]:
            for block in reversed(blocks(node)):
                pending += reversed(block.body)


def own_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements at or below a body without those of the functions and classes in it."""
    pending = [*reversed(body)]
    while pending:
        node = pending.pop()
        yield node
        if _KINDS[type(node)] and not isinstance(node, DEFINITIONS):
            for block in reversed(blocks(node)):
                pending += reversed(block.body)


def own_nodes(node: ast.AST, nested: tuple[type[ast.AST], ...] = DEFINITIONS) -> Iterator[ast.AST]:
    """The nodes in the body of a node. Of what is `nested` in it, only the node itself."""
    body = getattr(node, "body", [])
    pending: list[ast.AST] = [*body] if isinstance(body, list) else [body]
    while pending:
        inner = pending.pop()
        yield inner
        if not isinstance(inner, nested):
            pending += children(inner)


def holds(node: ast.stmt | ast.Lambda, rows: list[int]) -> bool:
    """True if one of the rows, in order, is in a statement."""
    first = bisect_left(rows, node.lineno)
    return first < len(rows) and rows[first] <= (node.end_lineno or node.lineno)


def rows_in(node: ast.stmt | ast.Lambda, rows: list[int]) -> list[int]:
    """Those of the rows, in order, that are in a statement."""
    end = bisect_right(rows, node.end_lineno or node.lineno)
    return rows[bisect_left(rows, node.lineno) : end]


def head(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement that are not in its blocks, in the order of the source.

    Conditions, values, targets, decorators, defaults, annotations, the patterns and guards of
    cases, the classes that handlers catch.
    """
    for child in children(node):
        if isinstance(child, ast.expr):
            yield child
        elif not isinstance(child, ast.stmt):
            yield from head(child)


def targets(node: ast.stmt) -> list[ast.expr]:
    """What a statement itself assigns to: names, attributes, items, and displays of those."""
    if type(node) not in _BINDING:
        return []
    match node:
        case ast.Assign(targets=assigned):
            return assigned
        case (
            ast.AugAssign(target=target)
            | ast.AnnAssign(target=target)
            | ast.For(target=target)
            | ast.AsyncFor(target=target)
        ):
            return [target]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [item.optional_vars for item in items if item.optional_vars is not None]
        case TypeAlias(name=name):
            return [name]
    return []


def single_targets(target: ast.expr) -> Iterator[ast.expr]:
    """The names, attributes and items that a target is made of: `a`, `b.c` of `a, *b.c`."""
    match target:
        case ast.Tuple(elts=inner) | ast.List(elts=inner):
            for each in inner:
                yield from single_targets(each)
        case ast.Starred(value=starred):
            yield from single_targets(starred)
        case _:
            yield target


def bound_names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement itself binds; `*` stands for those of `import *`.

    Names that `:=` binds in its expressions are left out.
    """
    if type(node) not in _BINDING:
        return
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (each.asname or each.name.partition(".")[0] for each in aliases)
        case ast.Try(handlers=handlers) | TryStar(handlers=handlers):
            yield from (handler.name for handler in handlers if handler.name)
        case ast.Match(cases=cases):
            for case in cases:
                yield from captured(case.pattern)
        case _:
            for target in targets(node):
                for single in single_targets(target):
                    if isinstance(single, ast.Name):
                        yield single.id


def captured(pattern: ast.pattern) -> Iterator[str]:
    """The names that a pattern binds."""
    for part in walk(pattern):
        match part:
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def unknown_statement(node: ast.stmt) -> NoReturn:
    """Called where every class of statement has its case: this one is newer than that code."""
    raise NotImplementedError(f"no case for the statement {type(node).__name__}")
