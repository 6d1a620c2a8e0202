"""Which statements of a body a question depends on."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from precision_lint.facts.dtypes.interpreter.budget import Budget, BudgetExceeded
from precision_lint.facts.dtypes.syntax.relevance import backward_slice, def_uses
from precision_lint.source.text.text import SourceText

_MODULES = frozenset({"torch"})

AFTER = """
x = first()
ask(x)
x = second()
"""
IN_A_LOOP = """
for i in range(2):
    ask(x)
    x = second()
"""
IN_AN_OUTER_LOOP = """
while True:
    for i in range(2):
        ask(x)
    x = second()
"""
CALLED_LATER = """
def ask():
    return x
x = second()
"""
IN_A_LAMBDA = """
ask = lambda: x
x = second()
"""
BY_WAY_OF_ANOTHER = """
for i in range(2):
    ask(y)
    y = x
    x = second()
"""


@pytest.mark.parametrize(
    ("code", "depends"),
    [
        (AFTER, False),
        (IN_A_LOOP, True),
        (IN_AN_OUTER_LOOP, True),
        (CALLED_LATER, True),
        (IN_A_LAMBDA, True),
        (BY_WAY_OF_ANOTHER, True),
    ],
)
def test_what_is_assigned_later_counts_where_it_may_be_read(code: str, depends: bool) -> None:
    _check(code, depends)


def _check(code: str, depends: bool) -> None:
    """Whether what `ask` reads depends on what `second` gives."""
    source = SourceText(Path("a.py"), dedent(code))
    body = ast.parse(source.text).body
    rows = [row for row, line in enumerate(source.text.split("\n"), 1) if "ask" in line]
    found = backward_slice(
        def_uses(body, source, _MODULES), lambda effect: effect.node.lineno in rows
    )
    assert any("second" in ast.unparse(each) for each in found.evaluated) is depends


REGION_INSIDE = """
dtype = second()
with torch.autocast("cuda", dtype):
    ask(x)
"""
REGION_OUTSIDE = """
dtype = second()
with torch.autocast("cuda", dtype):
    y = other(x)
ask(x)
"""
REGION_IN_A_LOOP = """
for step in range(2):
    with torch.autocast("cuda", dtype):
        ask(x)
    dtype = second()
"""
OWN_OF_A_FUNCTION = """
x = second()
def ask(y):
    x = y
    return x
"""
NONLOCAL_OF_A_FUNCTION = """
x = second()
def ask(y):
    nonlocal x
    x = x + y
"""
DEFAULT_OF_A_FUNCTION = """
x = second()
def ask(x=x):
    return x
"""
KEYWORD_OF_A_FUNCTION = """
x = second()
def ask(y):
    return other("x", x=y)  # x
"""
HANDED_TO_ACCELERATE = """
x = first()
for step in range(2):
    accelerator.backward(second(x))
    ask(accelerator)
"""
PRINTED = """
x = first()
for step in range(2):
    print(x, second())
    ask(x)
"""
MOVED = """
x = first()
for step in range(2):
    y.to(x.device, second())
    ask(x)
"""
GIVEN = """
x = first()
for step in range(2):
    change(x, second())
    ask(x)
"""
OF_A_MODULE = """
for step in range(2):
    torch.manual_seed(second())
    ask(torch.ones(2))
"""
ASSERTED = """
y = second()
assert len(y) == 2
ask(len(x))
"""


@pytest.mark.parametrize(
    ("code", "depends"),
    [
        (REGION_INSIDE, True),
        (REGION_OUTSIDE, False),
        (REGION_IN_A_LOOP, True),
        (OWN_OF_A_FUNCTION, False),
        (NONLOCAL_OF_A_FUNCTION, True),
        (DEFAULT_OF_A_FUNCTION, True),
        (KEYWORD_OF_A_FUNCTION, False),
        (HANDED_TO_ACCELERATE, False),
        (PRINTED, False),
        (MOVED, False),
        (GIVEN, True),
        (OF_A_MODULE, False),
        (ASSERTED, False),
    ],
)
def test_what_changes_nothing_does_not_count(code: str, depends: bool) -> None:
    _check(code, depends)


def test_documents_do_not_spend_the_budget_of_the_file() -> None:
    budget = Budget(is_small=False)
    budget.go_beyond()
    with budget.aside():
        _count(budget, 1_000_000)
    assert budget.spent == 0
    assert not budget.may_go_aside
    with pytest.raises(BudgetExceeded):
        _count(budget, 1_000_000)


def _count(budget: Budget, expressions: int) -> None:
    for _ in range(expressions):
        budget.count()
