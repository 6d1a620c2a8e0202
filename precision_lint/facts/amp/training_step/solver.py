"""The states that a graph can be in at each of its nodes: a forward dataflow, to its fixed point.

States that differ stay apart where ways meet, so that correlated conditions are resolved alike.
Where a node has too many, fewer conditions are tracked, until none is: then ways are mixed that
exclude each other, and only what holds on all of them is a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from precision_lint.facts.amp.training_step.conditions import atoms
from precision_lint.facts.amp.training_step.events import Event
from precision_lint.facts.amp.training_step.graph import END, START, Assume, Graph, Repeat
from precision_lint.facts.amp.training_step.states import State
from precision_lint.model.frozen import frozen

MOST_STATES = 64
"""States of one node."""

Point = tuple[int, State]
"""A node and the state before it."""


class TooManyStates(Exception):
    """Even without conditions, a node has too many states."""


@frozen(eq=False, slots=False)
class Solution:
    """The states before each node of a graph, and which follow from which."""

    graph: Graph
    states: Sequence[Sequence[State]]
    following: Mapping[Point, Sequence[Point]]
    is_exact: bool
    """False if conditions were left out, so that some ways may be impossible."""

    def before(self, is_meant: Callable[[Event], bool]) -> Iterator[tuple[Event, State]]:
        """The states before the events of a kind."""
        for node, action in enumerate(self.graph.actions):
            if isinstance(action, Event) and is_meant(action):
                for state in self.states[node]:
                    yield action, state

    def next_events(
        self, is_meant: Callable[[Event], bool], matters: Callable[[Event], bool]
    ) -> list[Event | None]:
        """The first events that matter after others; None where the step or the pass ends first."""
        pending = [
            point
            for node, action in enumerate(self.graph.actions)
            if isinstance(action, Event) and is_meant(action)
            for state in self.states[node]
            for point in self.following.get((node, state), ())
        ]
        seen = set(pending)
        found: dict[Event | None, None] = {}
        while pending:
            point = pending.pop()
            action = self.graph.actions[point[0]]
            if point[0] == END or isinstance(action, Repeat):
                found[None] = None
            elif isinstance(action, Event) and matters(action):
                found[action] = None
            else:
                further = [each for each in self.following.get(point, ()) if each not in seen]
                seen.update(further)
                pending += further
        return [*found]


def solve(graph: Graph) -> Solution:
    """The states of a graph.

    Raises:
        TooManyStates: they cannot be told apart and kept at bay.
    """
    for tracked in (None, _repeated(graph), frozenset[str]()):
        solution = _solve(graph, tracked)
        if solution is not None:
            return solution
    raise TooManyStates


def _repeated(graph: Graph) -> frozenset[str]:
    """The conditions that are tested in more than one place."""
    tests = {id(action.test): action.test for action in graph.actions if isinstance(action, Assume)}
    found: set[str] = set()
    seen: set[str] = set()
    for test in tests.values():
        texts = atoms(test)
        found |= seen & texts
        seen |= texts
    return frozenset(found)


def _solve(graph: Graph, tracked: frozenset[str] | None) -> Solution | None:
    """The states where some conditions are tracked; None if a node has too many."""
    states: list[dict[State, None]] = [{} for _ in graph.actions]
    states[START][State()] = None
    following: dict[Point, list[Point]] = {}
    pending: list[Point] = [(START, State())]
    while pending:
        point = pending.pop()
        node, state = point
        after = state.after(graph.actions[node], tracked)
        if after is None:
            continue
        following[point] = [(each, after) for each in graph.successors[node]]
        for each in graph.successors[node]:
            if after not in states[each]:
                if len(states[each]) >= MOST_STATES:
                    return None
                states[each][after] = None
                pending.append((each, after))
    return Solution(graph, [[*each] for each in states], following, tracked is None)
