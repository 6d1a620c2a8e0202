"""What a method assigns by names that are not in the source, as what it is for one of them.

`for key, value in options.items(): setattr(self, key, value)` is followed once, for any name. What
it takes from `options` under this name is a term with a step that has the name.
"""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.terms import Step, Term
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    Bottom,
    Constant,
    Dtype,
    Tensor,
    Value,
    Variable,
)

ANY = "any_name"
"""Stands for any name, until it is known which one is read."""


def under(name: str, value: Value) -> Value:
    """A value that was worked out for any name, for one of them; unknown if that cannot be said."""
    match value:
        case Variable(terms=terms, is_partial=is_partial):
            return Variable(frozenset(_under(name, term) for term in terms), is_partial)
        case Bottom():
            return value
        case Tensor() | Dtype() if not value.is_open:
            return value
    return UNKNOWN


def _under(name: str, term: Term) -> Term:
    return replace(term, steps=tuple(_step(name, step) for step in term.steps))


def _step(name: str, step: Step) -> Step:
    if step.name != ANY:
        return step
    match step.operand:
        case Constant():
            return replace(step, name=name, operand=Constant(name))
        case CallSite(arguments=(first, *others)) as given:
            asked = replace(first, value=Constant(name))
            return replace(step, name=name, operand=replace(given, arguments=(asked, *others)))
    return replace(step, name=name)
