"""The orders in which the events of a body can happen.

A path takes one way at every branch, and the same way where it is asked the same again. The bodies
of loops are passed once: what happens from one pass to the next is asked of the loop by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from precision_lint.facts.amp.conditions import Assumed, assuming, truth, without
from precision_lint.facts.amp.events import Event
from precision_lint.source.python.statements import (
    BlockKind,
    Definition,
    Leaving,
    Try,
    TryStar,
    blocks,
    head,
    single_targets,
    statements,
    targets,
)
from precision_lint.source.python.syntax import dotted

_MOST = 400
"""Paths through one body; what has more is not judged."""


class TooManyPaths(Exception):
    """A body branches too often to look at every path."""


class Left(Enum):
    """How a path leaves a block before its end."""

    PASS = auto()  # continue
    LOOP = auto()  # break
    BODY = auto()  # return
    ERROR = auto()  # raise


@dataclass(frozen=True, slots=True)
class Happening:
    """An event on a path, and what the path had taken for granted by then."""

    event: Event
    assumed: Assumed


@dataclass(frozen=True, slots=True)
class Path:
    """One way through a body."""

    happenings: tuple[Happening, ...] = ()
    assumed: Assumed = field(default_factory=dict)
    left: Left | None = None

    def has(self, event: Event) -> bool:
        return any(each.event.node is event.node for each in self.happenings)

    def before(self, event: Event) -> tuple[Happening, ...]:
        """What happens before an event of this path."""
        return self.happenings[: self._index(event)]

    def behind(self, event: Event) -> tuple[Happening, ...]:
        """What happens after an event of this path."""
        return self.happenings[self._index(event) + 1 :]

    def _index(self, event: Event) -> int:
        return next(
            index for index, each in enumerate(self.happenings) if each.event.node is event.node
        )


Reader = Callable[[ast.AST, ast.stmt], list[Path]]
"""What evaluating an expression of a statement does: one path, or those of the helper it calls."""


def paths(body: list[ast.stmt], read: Reader) -> list[Path]:
    """Every path through a body, those that raise left out.

    Raises:
        TooManyPaths: there are more than can be looked at.
    """
    return [path for path in _Walk(body, read).block(body, [Path()]) if path.left != Left.ERROR]


class _Walk:
    def __init__(self, body: list[ast.stmt], read: Reader) -> None:
        self.read = read
        self.acting: set[ast.stmt] = set()
        for node in statements(body):
            self._is_acting(node)

    def _is_acting(self, node: ast.stmt) -> bool:
        """True if a statement does something, or leaves."""
        if node in self.acting:
            return True
        below = [self._is_acting(inner) for block in blocks(node) for inner in block.body]
        own = any(path.happenings for part in parts(node) for path in self.read(part, node))
        if own or any(below) or isinstance(node, Leaving):
            self.acting.add(node)
            return True
        return False

    def block(self, body: Iterable[ast.stmt], before: list[Path]) -> list[Path]:
        done: list[Path] = []
        for node in body:
            done += [path for path in before if path.left is not None]
            before = [path for path in before if path.left is None]
            if not before:
                break
            before = _distinct(self.statement(node, before))
            if len(before) + len(done) > _MOST:
                raise TooManyPaths
        return done + before

    def statement(self, node: ast.stmt, before: list[Path]) -> list[Path]:
        if isinstance(node, Definition):
            return before
        if node not in self.acting:
            names = frozenset().union(*map(assigned, statements([node])))
            return [replace(path, assumed=without(names, path.assumed)) for path in before]
        for part in parts(node):
            before = [after for path in before for after in self.following(path, part, node)]
        names = assigned(node)
        before = [replace(path, assumed=without(names, path.assumed)) for path in before]
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return [after for path in before for after in self.branch(test, body, orelse, path)]
            case ast.For() | ast.AsyncFor() | ast.While():
                inside = self.block(node.body, before)
                through = [
                    replace(path, left=None) if path.left in {Left.PASS, Left.LOOP} else path
                    for path in inside
                ]
                return self.block(node.orelse, through)
            case ast.With(body=body) | ast.AsyncWith(body=body):
                return self.block(body, before)
            case ast.Try() | TryStar():
                return self.block(_unfailing(node), before)
            case ast.Match(cases=cases):
                return before + [path for case in cases for path in self.block(case.body, before)]
            case ast.Return():
                return [replace(path, left=Left.BODY) for path in before]
            case ast.Raise():
                return [replace(path, left=Left.ERROR) for path in before]
            case ast.Break():
                return [replace(path, left=Left.LOOP) for path in before]
            case ast.Continue():
                return [replace(path, left=Left.PASS) for path in before]
        return before

    def following(self, path: Path, part: ast.AST, node: ast.stmt) -> Iterator[Path]:
        """A path, and what evaluating an expression adds to it."""
        for further in self.read(part, node):
            known = {**further.assumed, **path.assumed}
            if any(known[text] != value for text, value in further.assumed.items()):
                continue  # the helper takes this branch only if this path has taken the other
            added = tuple(
                Happening(each.event, {**path.assumed, **each.assumed})
                for each in further.happenings
            )
            yield Path((*path.happenings, *added), known, path.left)

    def branch(
        self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], path: Path
    ) -> list[Path]:
        known = truth(test, path.assumed)
        after: list[Path] = []
        for holds, block in ((True, body), (False, orelse)):
            if known is not (not holds):
                taken = replace(path, assumed=assuming(test, holds, path.assumed))
                after += self.block(block, [taken])
        return after


def _distinct(found: list[Path]) -> list[Path]:
    """Paths that did the same and know the same, once."""
    kept: dict[object, Path] = {}
    for path in found:
        doings = tuple((id(each.event.node), each.event.scaler) for each in path.happenings)
        kept.setdefault((doings, tuple(sorted(path.assumed.items())), path.left), path)
    return list(kept.values())


def _unfailing(node: Try) -> Iterator[ast.stmt]:
    """What a `try` runs where nothing is raised in it."""
    for block in blocks(node):
        if block.kind is not BlockKind.HANDLER:
            yield from block.body


def parts(node: ast.stmt) -> list[ast.expr]:
    """The expressions that a statement evaluates itself; definitions run at another time."""
    return [] if isinstance(node, Definition) else [*head(node)]


def assigned(node: ast.stmt) -> frozenset[str]:
    """The variables and attributes that a statement itself assigns."""
    singles = (single for target in targets(node) for single in single_targets(target))
    return frozenset(filter(None, map(dotted, singles)))
