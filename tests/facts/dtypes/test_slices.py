"""Which statements of a body a question depends on."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from precision_lint.facts.dtypes.interpreter.budget import Budget, BudgetExceeded
from precision_lint.facts.dtypes.syntax.relevance import backward_slice, def_uses
from precision_lint.source.text.text import SourceText

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
    source = SourceText(Path("a.py"), dedent(code))
    body = ast.parse(source.text).body
    rows = [row for row, line in enumerate(source.text.split("\n"), 1) if "ask" in line]
    found = backward_slice(def_uses(body, source), lambda effect: effect.node.lineno in rows)
    assert any("second" in ast.unparse(each) for each in found.evaluated) is depends


def test_documents_do_not_spend_the_budget_of_the_file() -> None:
    budget = Budget(is_secondary=False)
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
