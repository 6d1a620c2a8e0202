"""Compares the states of a training step with runs of the same step in Python.

Generated bodies are executed for every value of their conditions and for loops of one to three
passes. What has happened to the gradients and to an optimizer before a call has to be one of the
states that the dataflow has there; and where conditions are independent, each of its states occurs.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from precision_lint.facts.amp.training_step import solver
from precision_lint.facts.amp.training_step.events import EventKind
from precision_lint.facts.amp.training_step.protocol import TrainingStep, training_steps
from precision_lint.facts.amp.training_step.states import BOOKED
from precision_lint.source.text.text import SourceText
from tests.context import python_file

CALLS = [f"scaler.{method}(o{n})" for method in ("unscale_", "step") for n in (1, 2)]
CALLS += ["scaler.update()", "help_out(o1)", "pass"]
CALLS += ["scaler.scale(loss).backward()", "loss.backward()"]
HEAD = """\
def help_out(optimizer):
    scaler.unscale_(optimizer)
    scaler.step(optimizer)


def train(a, b, c, passes):
"""

conditions = st.sampled_from(
    ["a", "not a", "a and b", "a or b", "not (b and c)", "b is None", "b is not None", "a == c"]
)
varying = conditions | st.sampled_from(["i % 2", "i % 2 == 0"])
simple = st.sampled_from(CALLS).map(lambda line: [line])


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def blocks(depth: int, *, in_loop: bool) -> st.SearchStrategy[list[str]]:
    statement: st.SearchStrategy[list[str]] = simple
    leaving = ["return"] + ["continue", "break"] * in_loop
    tests = varying if in_loop else conditions
    if depth:
        inner = blocks(depth - 1, in_loop=in_loop)
        branch = st.tuples(tests, inner, st.none() | inner).map(
            lambda parts: [
                f"if {parts[0]}:",
                *indented(parts[1]),
                *(["else:", *indented(parts[2])] if parts[2] else []),
            ]
        )
        leave = st.tuples(tests, st.sampled_from(leaving)).map(
            lambda parts: [f"if {parts[0]}:", f"    {parts[1]}"]
        )
        within = inner.map(lambda body: ["with passes:", *indented(body)])
        loop = blocks(depth - 1, in_loop=True).map(
            lambda body: ["for i in passes:", *indented(body)]
        )
        statement = simple | branch | leave | within | loop
    return st.lists(statement, min_size=1, max_size=4).map(lambda parts: [*itertools.chain(*parts)])


class Passes(list[int]):
    """What a loop goes through, and a context that does nothing."""

    def __enter__(self) -> None: ...
    def __exit__(self, *exception: object) -> None: ...


Seen = tuple[int, str, str]
"""The row of a call, what the gradients are before it, and what its optimizer has had."""


class Recorder:
    """A scaler, and a loss, that write down in which state they are called."""

    def __init__(self) -> None:
        self.seen: set[Seen] = set()
        self.gradients = "UNTOUCHED"
        self.had: dict[str, str] = {}

    def _call(self, method: str, optimizer: str = "") -> None:
        row = sys._getframe(2).f_lineno
        self.seen.add((row, self.gradients, self.had.get(optimizer, "")))
        if optimizer:
            self.had[optimizer] = f"{method} {row}"

    def scale(self, loss: Recorder) -> Scaled:
        return Scaled(self)

    def backward(self) -> None:
        self._call("backward")
        is_mixed = self.gradients in {"SCALED", "UNSCALED", "UNKNOWN"}
        self.gradients = "UNKNOWN" if is_mixed else "PLAIN"

    def unscale_(self, optimizer: str) -> None:
        self._call("UNSCALE", optimizer)
        self.gradients = "UNSCALED"

    def step(self, optimizer: str) -> None:
        self._call("STEP", optimizer)
        self.gradients = "STEPPED"

    def update(self) -> None:
        self._call("UPDATE")
        self.gradients = "UPDATED"
        self.had = {
            name: had if had.endswith("cleared") else f"{had} cleared"
            for name, had in self.had.items()
        }


class Scaled:
    """A loss that a scaler has scaled."""

    def __init__(self, scaler: Recorder) -> None:
        self.scaler = scaler

    def backward(self) -> None:
        self.scaler._call("SCALED")
        self.scaler.gradients = "SCALED"


def executed(source: str) -> set[Seen]:
    code = compile(source, "case.py", "exec")
    found: set[Seen] = set()
    truths = itertools.product([True, False], [True, False, None], [True, False])
    for (a, b, c), passes in itertools.product(truths, [1, 2, 3]):
        recorder = Recorder()
        scope: dict[str, object] = {"scaler": recorder, "loss": recorder, "o1": "o1", "o2": "o2"}
        exec(code, scope)
        scope["train"](a, b, c, Passes(range(passes)))  # type: ignore[operator]
        found |= recorder.seen
    return found


def solved(source: str) -> TrainingStep | None:
    """The step `train`; None if it has too many states, or nothing of a scaler."""
    file = python_file(SourceText(Path("case.py"), source))
    steps = [step for step in training_steps(file) if step.scope == "train"]
    return steps[0] if steps else None


def states(step: TrainingStep) -> Iterator[Seen]:
    for event in step.events:
        for state in step.states(event):
            entry = state.entry(event) if event.kind in BOOKED else None
            had = ""
            if entry is not None:
                had = f"{entry.event.kind.name} {entry.event.node.lineno}"
                had += " cleared" * entry.is_cleared
            yield event.node.lineno, state.gradients.name, had


@settings(max_examples=300, deadline=None)
@given(blocks(3, in_loop=False))
def test_every_state_that_occurs_is_found(body: list[str]) -> None:
    source = HEAD + "\n".join(indented([*body, "scaler.update()"])) + "\n"
    step = solved(source)
    assume(step is not None)
    assert step is not None
    assert executed(source) <= {*states(step)}


@settings(max_examples=200, deadline=None)
@given(blocks(3, in_loop=False), st.sampled_from([2, 4, 8]))
def test_every_state_that_occurs_is_found_where_conditions_are_left_out(
    body: list[str], most: int
) -> None:
    source = HEAD + "\n".join(indented([*body, "scaler.update()"])) + "\n"
    with mock.patch.object(solver, "MOST_STATES", most):
        step = solved(source)
    assume(step is not None)
    assert step is not None
    assert executed(source) <= {*states(step)}


@pytest.mark.parametrize(
    ("times", "most", "expected"),
    [(1, 64, (True, 1)), (1, 8, (False, 1)), (2, 14, (False, 2)), (2, 2, None)],
)
def test_what_is_too_much_is_left_out(
    times: int, most: int, expected: tuple[bool, int] | None
) -> None:
    """First the conditions that are tested once, then all of them, then the whole step.

    The step is reached in one state, unscaled, if the second test of `b` goes the way of the first.
    """
    other = "".join(f"    if a.x{n}:\n        scaler.update()\n" for n in range(4)) * times
    unscale, step_ = (f"    if b:\n        scaler.{call}(o1)\n" for call in ("unscale_", "step"))
    with mock.patch.object(solver, "MOST_STATES", most):
        step = solved(f"{HEAD}{unscale}{step_}{other}    scaler.update()\n")
    if expected is None:
        assert step is None
    else:
        assert step is not None
        (stepped,) = (each for each in step.events if each.kind is EventKind.STEP)
        assert (step.solution.is_exact, len(step.states(stepped))) == expected


@settings(max_examples=300, deadline=None)
@given(blocks(2, in_loop=False))
def test_every_state_that_is_found_occurs(body: list[str]) -> None:
    """Where each condition is one name, or its opposite: any of their values is possible."""
    text = "\n".join(indented([*body, "scaler.update()"]))
    for condition in ("b is None", "b is not None", "a == c", "i % 2 == 0", "i % 2"):
        text = text.replace(condition, "c")
    source = f"{HEAD}{text}\n"
    assume(" or " not in text and " and " not in text)
    step = solved(source)
    assume(step is not None and step.solution.is_exact)
    assert step is not None
    assert {*states(step)} <= executed(source)
