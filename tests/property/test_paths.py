"""The ways through a training step, held against Python itself.

Generated bodies are executed for every value of their conditions: each order of calls that occurs
has to be one of the paths, and each path has to occur.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from precision_lint.facts.amp.protocol import training_steps
from precision_lint.source.text.text import SourceText
from tests.context import python_file

NAMES = "abc"
CALLS = [f"scaler.{method}(o{n})" for method in ("unscale_", "step") for n in (1, 2)]
CALLS += ["scaler.update()", "help_out(o1)", "pass"]
HEAD = """\
def help_out(optimizer):
    scaler.unscale_(optimizer)
    scaler.step(optimizer)


def train(a, b, c, once):
"""

conditions = st.sampled_from(
    ["a", "not a", "a and b", "a or b", "not (b and c)", "b is None", "b is not None", "a == c"]
)
simple = st.sampled_from(CALLS).map(lambda line: [line])


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def blocks(depth: int, *, in_loop: bool) -> st.SearchStrategy[list[str]]:
    statement: st.SearchStrategy[list[str]] = simple
    leaving = ["return"] + ["continue", "break"] * in_loop
    if depth:
        inner = blocks(depth - 1, in_loop=in_loop)
        branch = st.tuples(conditions, inner, st.none() | inner).map(
            lambda parts: [
                f"if {parts[0]}:",
                *indented(parts[1]),
                *(["else:", *indented(parts[2])] if parts[2] else []),
            ]
        )
        leave = st.tuples(conditions, st.sampled_from(leaving)).map(
            lambda parts: [f"if {parts[0]}:", f"    {parts[1]}"]
        )
        within = inner.map(lambda body: ["with once:", *indented(body)])
        loop = blocks(depth - 1, in_loop=True).map(lambda body: ["for _ in once:", *indented(body)])
        statement = simple | branch | leave | within | loop
    return st.lists(statement, min_size=1, max_size=4).map(lambda parts: [*itertools.chain(*parts)])


class Once(list[int]):
    """A loop of one pass, and a context that does nothing."""

    def __enter__(self) -> None: ...
    def __exit__(self, *exception: object) -> None: ...


class Recorder:
    """A scaler that writes down what it is asked for."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def unscale_(self, optimizer: str) -> None:
        self.calls.append(f"unscale_ {optimizer}")

    def step(self, optimizer: str) -> None:
        self.calls.append(f"step {optimizer}")

    def update(self) -> None:
        self.calls.append("update ")


def executed(source: str) -> set[tuple[str, ...]]:
    code = compile(source, "case.py", "exec")
    found = set()
    for a, b, c in itertools.product([True, False], [True, False, None], [True, False]):
        scaler = Recorder()
        scope: dict[str, object] = {"scaler": scaler, "o1": "o1", "o2": "o2"}
        exec(code, scope)
        scope["train"](a, b, c, Once([0]))  # type: ignore[operator]
        found.add(tuple(scaler.calls))
    return found


def followed(source: str) -> set[tuple[str, ...]]:
    file = python_file(SourceText(Path("case.py"), source))
    found = {
        tuple(f"{each.event.kind.name} {each.event.subject}" for each in path.events)
        for step in training_steps(file)
        if step.scope == "train"
        for path in step.paths
    }
    names = {"UNSCALE": "unscale_", "STEP": "step", "UPDATE": "update"}
    return {
        tuple(f"{names[kind]} {subject}" for kind, _, subject in (c.partition(" ") for c in path))
        for path in found
    }


@settings(max_examples=300, deadline=None)
@given(blocks(3, in_loop=False))
def test_every_order_that_occurs_is_a_path(body: list[str]) -> None:
    source = HEAD + "\n".join(indented([*body, "scaler.update()"])) + "\n"
    paths = followed(source)
    if paths:  # else there were too many
        assert executed(source) <= paths


@settings(max_examples=300, deadline=None)
@given(blocks(2, in_loop=False))
def test_every_path_occurs_where_conditions_are_independent(body: list[str]) -> None:
    """Names alone, negated or joined: any of their values is possible."""
    text = "\n".join(indented([*body, "scaler.update()"]))
    for condition in ("b is None", "b is not None", "a == c"):
        text = text.replace(condition, "c")
    source = f"{HEAD}{text}\n"
    paths = followed(source)
    if paths and " or " not in text and " and " not in text:
        assert paths <= executed(source)
