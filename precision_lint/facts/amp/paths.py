"""The orders in which the events of a body can happen.

A path takes one way at every branch, and the same way where it is asked the same again. The bodies
of loops are passed once: what happens from one pass to the next is asked of the loop by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from precision_lint.facts.amp.conditions import PathConditions, assuming, truth, without
from precision_lint.facts.amp.events import Event, EventKind
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

MOST_PATHS = 400
"""Paths through one body; what has more is not judged."""


_MAKING = frozenset(
    {EventKind.SCALED_BACKWARD, EventKind.BACKWARD, EventKind.UNSCALE, EventKind.UNKNOWN}
)
"""After these events there are gradients."""


class TooManyPaths(Exception):
    """A body branches too often to look at every path."""


class Exit(Enum):
    """How a path leaves a block before its end."""

    CONTINUE = auto()  # continue
    BREAK = auto()  # break
    RETURN = auto()  # return
    RAISE = auto()  # raise


@dataclass(frozen=True, slots=True)
class PathEvent:
    """An event on a path, and what the path had taken for granted by then."""

    event: Event
    path_conditions: PathConditions


@dataclass(frozen=True, slots=True)
class Path:
    """One way through a body."""

    events: tuple[PathEvent, ...] = ()
    path_conditions: PathConditions = field(default_factory=dict)
    exit: Exit | None = None

    def has(self, event: Event) -> bool:
        return any(each.event.node is event.node for each in self.events)

    def preceding(self, event: Event) -> tuple[PathEvent, ...]:
        """What happens before an event of this path."""
        return self.events[: self._index(event)]

    def following(self, event: Event) -> tuple[PathEvent, ...]:
        """What happens after an event of this path."""
        return self.events[self._index(event) + 1 :]

    def is_plain_at(self, event: Event) -> bool:
        """True if there are gradients at an event, and nothing has scaled the loss."""
        kinds = [each.event.kind for each in self.preceding(event)]
        made = [kind for kind in kinds if kind in _MAKING]
        return bool(made) and all(kind is EventKind.BACKWARD for kind in made)

    def _index(self, event: Event) -> int:
        return next(
            index for index, each in enumerate(self.events) if each.event.node is event.node
        )


Reader = Callable[[ast.AST, ast.stmt], list[Path]]
"""What evaluating an expression of a statement does: one path, or those of the helper it calls."""


def paths(body: list[ast.stmt], read: Reader) -> list[Path]:
    """Every path through a body, those that raise left out.

    Raises:
        TooManyPaths: there are more than can be looked at.
    """
    return [path for path in _Walk(body, read).block(body, [Path()]) if path.exit != Exit.RAISE]


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
        own = any(path.events for part in parts(node) for path in self.read(part, node))
        if own or any(below) or isinstance(node, Leaving):
            self.acting.add(node)
            return True
        return False

    def block(self, body: Iterable[ast.stmt], before: list[Path]) -> list[Path]:
        done: list[Path] = []
        for node in body:
            done += [path for path in before if path.exit is not None]
            before = [path for path in before if path.exit is None]
            if not before:
                break
            before = distinct(self.statement(node, before))
            if len(before) + len(done) > MOST_PATHS:
                raise TooManyPaths
        return done + before

    def statement(self, node: ast.stmt, before: list[Path]) -> list[Path]:
        if isinstance(node, Definition):
            return before
        if node not in self.acting:
            names = frozenset().union(*map(assigned, statements([node])))
            return [
                replace(path, path_conditions=without(names, path.path_conditions))
                for path in before
            ]
        for part in parts(node):
            before = [after for path in before for after in self.following(path, part, node)]
        names = assigned(node)
        before = [
            replace(path, path_conditions=without(names, path.path_conditions)) for path in before
        ]
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return [after for path in before for after in self.branch(test, body, orelse, path)]
            case ast.For() | ast.AsyncFor() | ast.While():
                inside = self.block(node.body, before)
                through = [
                    replace(path, exit=None) if path.exit in {Exit.CONTINUE, Exit.BREAK} else path
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
                return [replace(path, exit=Exit.RETURN) for path in before]
            case ast.Raise():
                return [replace(path, exit=Exit.RAISE) for path in before]
            case ast.Break():
                return [replace(path, exit=Exit.BREAK) for path in before]
            case ast.Continue():
                return [replace(path, exit=Exit.CONTINUE) for path in before]
        return before

    def following(self, path: Path, part: ast.AST, node: ast.stmt) -> Iterator[Path]:
        """A path, and what evaluating an expression adds to it."""
        for further in self.read(part, node):
            known = {**further.path_conditions, **path.path_conditions}
            if any(known[text] != value for text, value in further.path_conditions.items()):
                continue  # the helper takes this branch only if this path has taken the other
            added = tuple(
                PathEvent(each.event, {**path.path_conditions, **each.path_conditions})
                for each in further.events
            )
            yield Path((*path.events, *added), known, path.exit)

    def branch(
        self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], path: Path
    ) -> list[Path]:
        known = truth(test, path.path_conditions)
        after: list[Path] = []
        for holds, block in ((True, body), (False, orelse)):
            if known is not (not holds):
                taken = replace(path, path_conditions=assuming(test, holds, path.path_conditions))
                after += self.block(block, [taken])
        return after


def distinct(found: list[Path]) -> list[Path]:
    """Paths that did the same and know the same, once."""
    kept: dict[object, Path] = {}
    for path in found:
        doings = tuple((id(each.event.node), each.event.scaler) for each in path.events)
        kept.setdefault((doings, tuple(sorted(path.path_conditions.items())), path.exit), path)
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
