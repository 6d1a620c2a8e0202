"""Terms that lead to themselves."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from precision_lint.facts.dtypes.domain.lattice import join
from precision_lint.facts.dtypes.domain.terms import Step, Term
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    Dictionary,
    Sequence,
    Tensor,
    Value,
    Variable,
    tensor,
)
from precision_lint.facts.dtypes.interpreter.budget import Budget, BudgetExceeded
from precision_lint.facts.dtypes.whole_program.resolution import Resolution


@dataclass(frozen=True)
class Root:
    place: str = "batch"


ROOT: Any = Root()
OF_ITSELF = Variable(frozenset({Term(ROOT, (Step("value"),))}))


def resolved(held: Value) -> Value:
    """A value of a mapping that holds its own values, and something else."""
    return Resolution(analysis(), lambda _: Dictionary(join(OF_ITSELF, held)))(OF_ITSELF)


def analysis() -> Any:
    budget = Budget(is_small=True)
    budget.go_beyond()
    return SimpleNamespace(callers=SimpleNamespace(cycles=0), budget=budget)


def test_a_mapping_of_its_own_values_holds_nothing() -> None:
    assert resolved(BOTTOM) == BOTTOM


def test_what_a_mapping_holds_besides_its_own_values() -> None:
    found = resolved(tensor("bfloat16"))
    assert isinstance(found, Tensor)
    assert found.dtypes == {"bfloat16"}


def test_the_ways_through_terms_that_lead_to_each_other_are_bounded() -> None:
    """A mapping of many values of itself: the ways grow with the power of their number."""
    terms = [Term(ROOT, (Step("value"), Step("unpacked", position=one))) for one in range(12)]
    held = Dictionary(Sequence(Variable(frozenset(terms))))
    with pytest.raises(BudgetExceeded):
        Resolution(analysis(), lambda _: held)(Variable(frozenset(terms)))
