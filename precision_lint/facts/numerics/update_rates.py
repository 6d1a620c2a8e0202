"""The learning rate at which an optimizer updates weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.amp.parameter_groups import ParameterGroup
from precision_lint.facts.amp.parsed_arguments import parsed_default
from precision_lint.facts.amp.plain_runs import PlainRun
from precision_lint.facts.amp.rates_in_runs import rate_in_runs
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Constant, Dictionary, Value
from precision_lint.facts.dtypes.domain.values import Sequence as Items
from precision_lint.facts.origin import Setting
from precision_lint.facts.settings.default_numbers import is_small_in_files, small_default

LOST_BELOW = 1e-3
"""Learning rates from which on an optimizer such as Adam moves bfloat16 weights (torch 2.13: 99 of
100 in 20 steps; half of them at 1e-4, one in 15 at 1e-5)."""


def rate_of(
    call: Call, trained: Value, groups: Sequence[ParameterGroup], file: PythonFile
) -> float | None:
    """The smallest of the learning rates that are given for what is trained, or the default of
    1e-3; None if one is not known.

    Of an option, that is its default.
    """
    rates = list(_of_groups(groups, file) if groups else _rates(trained))
    lr = call.argument(1, "lr")
    is_needed = not groups or any(each.rate is None for each in groups)
    if lr is not None and is_needed:
        number = _number(lr.value)
        rates.append(_written(file.node_at(lr.span), file) if number is None else number)
    elif not rates and not call.has_stars:
        return LOST_BELOW
    known = [rate for rate in rates if rate is not None]
    return min(known) if known and len(known) == len(rates) else None


def rate_in(run: PlainRun, call: Call, file: PythonFile) -> float | None:
    """The one learning rate of an optimizer in a run; None if it is not known."""
    given, lr = call.argument(0, "params"), call.argument(1, "lr")
    node = None if lr is None else file.node_at(lr.span)
    if node is None or (given is not None and any(True for _ in _rates(given.value))):
        return None
    match node:
        case ast.Call(func=ast.Name(id="float"), args=[number]):
            node = number
    known = run.value(node)
    return None if known is None else _largest([known.value])


def has_small_rate(call: Call, file: PythonFile) -> bool:
    """True if the one learning rate of an optimizer is a key of files that give small numbers."""
    given, lr = call.argument(0, "params"), call.argument(1, "lr")
    if lr is None or (given is not None and any(_rates(given.value))):
        return False
    return is_small_in_files(file.node_at(lr.span), file)


def _of_groups(groups: Sequence[ParameterGroup], file: PythonFile) -> Iterator[float | None]:
    for group in groups:
        if group.rate is not None:
            known = next(_rates(group.value), None)
            yield _written(group.rate, file) if known is None else known


def _written(node: ast.expr | None, file: PythonFile) -> float | None:
    """What the code and the runs of the project make of an expression."""
    match node:
        case ast.Constant(value=int() | float() as given):
            return float(given)
        case ast.BinOp(left=one, op=ast.Mult() | ast.Div() as operator, right=other):
            rates = _written(one, file), _written(other, file)
            return _computed(*rates, operator)
    number = small_default(node, file)
    if number is None:
        number = parsed_default(node, file)
    return rate_in_runs(node, file) if number is None else number


def _computed(one: float | None, other: float | None, operator: ast.operator) -> float | None:
    if one is None or other is None:
        return None
    if isinstance(operator, ast.Mult):
        return one * other
    return one / other if other else None


def _rates(value: Value) -> Iterator[float | None]:
    match value:
        case Dictionary(items=tuple(items)) if "lr" in dict(items):
            yield _number(dict(items)["lr"])
        case Items(items=tuple(items)):
            for item in items:
                yield from _rates(item)


def _number(value: Value) -> float | None:
    match value:
        case Constant(value=int() | float() as number):
            return float(number)
        case Setting(choices=choices) if not any(choice.option for choice in choices):
            return _largest([choice.value for choice in choices])
    return None


def _largest(values: Sequence[object]) -> float | None:
    """The largest of the numbers that configurations give."""
    try:
        return max(float(str(value)) for value in values)
    except ValueError:
        return None
