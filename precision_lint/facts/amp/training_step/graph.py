"""The control flow of a body, reduced to what the protocol of a scaler asks for.

Nodes are events, conditions that were tested, and assignments to names that conditions mention.
Statements that do nothing of this are left out. A helper is summarized by the graph of its own
events, which is worked out once, and put in with the names of its caller where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from precision_lint.facts.amp.training_step.conditions import with_names
from precision_lint.facts.amp.training_step.events import Event, calls_in_order, renamed
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.source.python.nodes import children
from precision_lint.source.python.statements import (
    BlockKind,
    Definition,
    Leaving,
    Loop,
    Try,
    TryStar,
    blocks,
    head,
    own_statements,
    single_targets,
    targets,
)
from precision_lint.source.python.syntax import dotted, resolved

MOST_NODES = 3_000
"""Nodes of one graph; a body that needs more is not judged."""


class TooLarge(Exception):
    """A body and its helpers have too many nodes."""


@frozen
class Assume:
    """A condition that holds, or does not, on this way."""

    test: ast.expr
    holds: bool


@frozen
class Forget:
    """Names that get another value."""

    names: frozenset[str]


@frozen
class Repeat:
    """The end of a pass of a loop, and the names that change from one pass to the next."""

    loop: Loop
    changing: frozenset[str]


Action = Event | Assume | Forget | Repeat | None

START, END = 0, 1


@frozen(eq=False)
class Graph:
    """What happens at each node, and the nodes that can follow it; it starts at 0, ends at 1."""

    actions: tuple[Action, ...]
    successors: tuple[tuple[int, ...], ...]

    @property
    def events(self) -> Iterator[Event]:
        return (action for action in self.actions if isinstance(action, Event))


@frozen(slots=False)
class Called:
    """A helper where it is called: its graph, and what its names are there."""

    graph: Graph
    names: Mapping[str, ast.expr]
    helper: str
    call: ast.Call

    @cached_property
    def texts(self) -> Mapping[str, str]:
        return {name: ast.unparse(value) for name, value in self.names.items()}

    def action(self, action: Action) -> Action:
        """An action of the helper in the words of the caller."""
        match action:
            case Event():
                return renamed(action, self.texts, self.helper, self.call)
            case Assume(test=test, holds=holds):
                return Assume(with_names(test, self.names), holds)
            case Forget(names=names):
                return Forget(_renamed(names, self.texts))
            case Repeat(loop=loop, changing=changing):
                return Repeat(loop, _renamed(changing, self.texts))
        return None


def _renamed(names: frozenset[str], texts: Mapping[str, str]) -> frozenset[str]:
    return frozenset(resolved(name, texts) for name in names)


Reader = Callable[[ast.Call, ast.stmt], Event | Called | None]
"""What a call does: an event, what a helper does, or nothing."""


def graph_of(body: list[ast.stmt], read: Reader) -> Graph:
    """The graph of a body.

    Raises:
        TooLarge: it has too many nodes.
    """
    builder = _Builder(body, read)
    builder.connect(builder.block(body, [START]) + builder.returned, END)
    successors = tuple(tuple(dict.fromkeys(following)) for following in builder.successors)
    return Graph(tuple(builder.actions), successors)


@dataclass(slots=True)
class _Exits:
    """The nodes from which a loop is left, or its next pass begun."""

    breaking: list[int] = field(default_factory=list)
    continuing: list[int] = field(default_factory=list)


class _Builder:
    """Puts nodes behind a frontier: the nodes from which control reaches a statement."""

    def __init__(self, body: list[ast.stmt], read: Reader) -> None:
        self._read = read
        self._does: dict[ast.Call, Event | Called | None] = {}
        self.actions: list[Action] = [None, None]
        self.successors: list[list[int]] = [[], []]
        self.returned: list[int] = []
        self._loops: list[_Exits] = []
        self._statement: ast.stmt = ast.Pass()
        self._acting: set[ast.stmt] = set()
        self._tested = _tested(body)
        for node in body:
            self._is_acting(node)

    def _is_acting(self, node: ast.stmt) -> bool:
        """True if a statement, or one in it, does something, or leaves."""
        if isinstance(node, Definition):
            return False
        below = [self._is_acting(inner) for block in blocks(node) for inner in block.body]
        own = [
            self._does_of(call, node) is not None
            for part in parts(node)
            for call in calls_in_order(part)
        ]
        if any(own) or any(below) or isinstance(node, Leaving):
            self._acting.add(node)
            return True
        return False

    def _does_of(self, call: ast.Call, node: ast.stmt) -> Event | Called | None:
        if call not in self._does:
            self._does[call] = self._read(call, node)
        return self._does[call]

    # Nodes

    def connect(self, frontier: Iterable[int], node: int) -> None:
        for each in frontier:
            self.successors[each].append(node)

    def add(self, action: Action, frontier: list[int]) -> list[int]:
        """A node behind a frontier, which is the next frontier; none if nothing leads there."""
        if not frontier:
            return []
        if len(self.actions) >= MOST_NODES:
            raise TooLarge
        self.actions.append(action)
        self.successors.append([])
        node = len(self.actions) - 1
        self.connect(frontier, node)
        return [node]

    def _insert(self, called: Called, frontier: list[int]) -> list[int]:
        """The nodes of a helper."""
        if not frontier:
            return []
        first = len(self.actions)
        if first + len(called.graph.actions) > MOST_NODES:
            raise TooLarge
        self.actions += map(called.action, called.graph.actions)
        self.successors += [
            [first + each for each in following] for following in called.graph.successors
        ]
        self.connect(frontier, first + START)
        return [first + END]

    # Expressions

    def evaluate(self, part: ast.AST, node: ast.stmt, frontier: list[int]) -> list[int]:
        """What an expression does, in the order of evaluation; `a if test else b` branches."""
        if isinstance(part, ast.Lambda):
            return frontier
        if isinstance(part, ast.IfExp) and any(
            self._does_of(call, node) for each in (part.body, part.orelse)
            for call in calls_in_order(each)
        ):  # fmt: skip
            frontier = self.evaluate(part.test, node, frontier)
            return [
                last
                for holds, each in ((True, part.body), (False, part.orelse))
                for last in self.evaluate(each, node, self.add(Assume(part.test, holds), frontier))
            ]
        for child in children(part):
            frontier = self.evaluate(child, node, frontier)
        if isinstance(part, ast.Call):
            match self._does_of(part, node):
                case Event() as event:
                    return self.add(event, frontier)
                case Called() as called:
                    return self._insert(called, frontier)
        return frontier

    # Statements

    def block(self, body: Iterable[ast.stmt], frontier: list[int]) -> list[int]:
        for node in body:
            frontier = self.statement(node, frontier)
        return frontier

    def statement(self, node: ast.stmt, frontier: list[int]) -> list[int]:
        if node not in self._acting:
            names = frozenset().union(*map(assigned, own_statements([node])))
            return self._switch(node, self._forget(names, frontier))
        if isinstance(node, Loop):
            return self._loop(node, frontier)
        for part in parts(node):
            frontier = self.evaluate(part, node, frontier)
        frontier = self._forget(assigned(node), frontier)
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return self.block(body, self.add(Assume(test, True), frontier)) + self.block(
                    orelse, self.add(Assume(test, False), frontier)
                )
            case ast.With(body=body) | ast.AsyncWith(body=body):
                return self.block(body, frontier)
            case ast.Try() | TryStar():
                return self.block(_unfailing(node), frontier)
            case ast.Match(cases=cases):
                after = [last for case in cases for last in self.block(case.body, frontier)]
                is_exhaustive = any(
                    isinstance(case.pattern, ast.MatchAs)
                    and case.pattern.pattern is None
                    and case.guard is None
                    for case in cases
                )
                return after if is_exhaustive else [*after, *frontier]
            case ast.Return():
                self.returned += frontier
                return []
            case ast.Raise():
                return []
            case ast.Break():
                self._loops[-1].breaking += frontier
                return []
            case ast.Continue():
                self._loops[-1].continuing += frontier
                return []
        return frontier

    def _forget(self, names: frozenset[str], frontier: list[int]) -> list[int]:
        return self.add(Forget(names), frontier) if names else frontier

    def _switch(self, node: ast.stmt, frontier: list[int]) -> list[int]:
        """What is known after `is_unscaled = True`, if a condition of the body asks for it."""
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name) as switch], value=ast.Constant(value=bool(on))
            ):
                return self.add(Assume(switch, on), frontier) if name in self._tested else frontier
        return frontier

    def _loop(self, node: Loop, frontier: list[int]) -> list[int]:
        """A loop whose body runs once at least: what a step needs is not in an empty one."""
        if not isinstance(node, ast.While):
            frontier = self.evaluate(node.iter, node, frontier)
        entry = self.add(None, frontier)
        exits = _Exits()
        self._loops.append(exits)
        inside = self._forget(assigned(node), entry)
        if isinstance(node, ast.While):
            inside = self.evaluate(node.test, node, inside)
        ended = self.block(node.body, inside) + exits.continuing
        self._loops.pop()
        changing = assigned(node).union(*map(assigned, own_statements(node.body)))
        self.connect(self.add(Repeat(node, changing), ended), entry[0] if entry else START)
        is_endless = (
            isinstance(node, ast.While)
            and isinstance(node.test, ast.Constant)
            and bool(node.test.value)
        )
        return self.block(node.orelse, [] if is_endless else ended) + exits.breaking


def _unfailing(node: Try) -> Iterator[ast.stmt]:
    """What a `try` runs where nothing is raised in it."""
    for block in blocks(node):
        if block.kind is not BlockKind.HANDLER:
            yield from block.body


def _tested(body: list[ast.stmt]) -> frozenset[str]:
    """The variables that conditions of a body ask for."""
    tests = (node.test for node in own_statements(body) if isinstance(node, ast.If | ast.While))
    return frozenset(
        inner.id for test in tests for inner in ast.walk(test) if isinstance(inner, ast.Name)
    )


def parts(node: ast.stmt) -> list[ast.expr]:
    """The expressions that a statement evaluates itself; definitions run at another time."""
    return [] if isinstance(node, Definition) else [*head(node)]


def assigned(node: ast.stmt) -> frozenset[str]:
    """The variables and attributes that a statement itself assigns."""
    singles = (single for target in targets(node) for single in single_targets(target))
    return frozenset(filter(None, map(dotted, singles)))
