"""Entries that need each other: held to the least solution of random systems of equations."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from precision_lint.facts.dtypes.interpreter.fixpoint import FixpointTable

TOP = frozenset("abc")
Equations = list[tuple[frozenset[str], list[int]]]
"""For each key what it holds by itself, and the keys whose values it holds as well."""

SIZE = 6


def systems() -> st.SearchStrategy[Equations]:
    own = st.frozensets(st.sampled_from("abc"), max_size=1)
    needed = st.lists(st.integers(0, SIZE - 1), max_size=3, unique=True)
    return st.lists(st.tuples(own, needed), min_size=SIZE, max_size=SIZE)


def least_solution(equations: Equations) -> list[frozenset[str]]:
    values = [frozenset[str]() for _ in equations]
    for _ in range(len(equations) + 1):
        values = [own.union(*(values[key] for key in needed)) for own, needed in equations]
    return values


class Interrupted(Exception):
    """The budget is spent, say."""


class Solved:
    """Solves a system with a table, and counts how often each entry is computed."""

    def __init__(self, equations: Equations, *, is_late: bool = False, most: int = 1 << 30) -> None:
        """`most` is after how many entries it is interrupted, once."""
        self.equations = equations
        self.table = FixpointTable(frozenset[str](), TOP, lambda: is_late)
        self.computed = Counter[int]()
        self.recorded: list[int] = []
        self.most = most

    def __call__(self, key: int) -> frozenset[str]:
        return self.table.entry(key, lambda: self.compute(key))

    def compute(self, key: int) -> frozenset[str]:
        self.computed[key] += 1
        if self.computed.total() == self.most:
            raise Interrupted
        self.recorded.append(key)
        self.table.note(lambda: self.recorded.remove(key))
        own, needed = self.equations[key]
        return own.union(*map(self, needed))


A = frozenset("a")
NONE = frozenset[str]()
READ_AGAIN: Equations = [
    (A, []), (NONE, [1, 4]), (NONE, []), (NONE, []), (NONE, [0, 1, 5]), (NONE, [1]),
]  # fmt: skip
"""5 reads what 1 held while 4 was assumed."""
READ_BY_A_SIBLING: Equations = [
    (NONE, [0, 1, 4]), (A, [0, 1, 3]), (NONE, []), (NONE, [2, 4]), (NONE, [0]), (NONE, []),
]  # fmt: skip
"""4 holds what it was while 0 and 1 were assumed; 3, beside 0, reads it."""


@example(READ_AGAIN, [4, 1, 2, 3, 0, 5])
@example(READ_BY_A_SIBLING, [1, 0, 2, 3, 4, 5])
@given(systems(), st.permutations(range(SIZE)))
def test_entries_hold_the_least_solution(equations: Equations, order: list[int]) -> None:
    solved = Solved(equations)
    values = {key: solved(key) for key in order}
    least = least_solution(equations)
    for key, value in values.items():
        assert value >= least[key]
        assert value in (least[key], TOP)  # top where four iterations are not enough


@pytest.mark.parametrize("first", [0, 1, 2])
def test_entries_that_need_each_other_are_exact(first: int) -> None:
    ring: Equations = [(frozenset(), [1]), (frozenset("a"), [2]), (frozenset("b"), [0, 2])]
    assert Solved(ring)(first) == frozenset("ab")


@given(systems())
def test_what_needs_no_recursion_is_computed_once(equations: Equations) -> None:
    upwards = [
        (own, [key for key in needed if key > k]) for k, (own, needed) in enumerate(equations)
    ]
    solved = Solved(upwards)
    assert [solved(key) for key in range(SIZE)] == least_solution(upwards)
    assert set(solved.computed.values()) == {1}


@given(systems(), st.integers(0, SIZE - 1))
def test_what_an_iteration_recorded_is_undone(equations: Equations, first: int) -> None:
    solved = Solved(equations)
    solved(first)
    repeated = [key for key, count in Counter(solved.recorded).items() if count > 1]
    assert not repeated


@given(systems(), st.permutations(range(SIZE)), st.integers(1, 20))
def test_what_is_known_after_an_interruption_holds(
    equations: Equations, order: list[int], most: int
) -> None:
    solved = Solved(equations, most=most)
    with suppress(Interrupted):
        for key in order:
            solved(key)
    values = {key: solved(key) for key in order}
    for key, least in enumerate(least_solution(equations)):
        assert values[key] in (least, TOP)


@pytest.mark.parametrize(("reads", "times"), [(1, 1), (0, 2)])
def test_what_needs_no_assumption_is_recorded_once(reads: int, times: int) -> None:
    """Entry 0 needs itself, and something is recorded on the way that reads one of the entries."""
    table = FixpointTable(NONE, TOP, lambda: False)
    done: list[str] = []
    count = Counter[str]()

    def first() -> frozenset[str]:
        if "recorded" not in done:
            with table.recording(lambda: done.remove("recorded")):
                done.append("recorded")
                count["recorded"] += 1
                table.entry(reads, first if reads == 0 else lambda: A)
        return table.entry(0, first) | A

    assert table.entry(0, first) == A
    assert done == ["recorded"]
    assert count["recorded"] == times


@given(systems(), st.integers(0, SIZE - 1))
def test_late_entries_assume_top(equations: Equations, first: int) -> None:
    solved = Solved(equations, is_late=True)
    assert solved(first) >= least_solution(equations)[first]
    assert set(solved.computed.values()) == {1}
