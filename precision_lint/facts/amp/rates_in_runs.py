"""Learning rates as the runs of a program give them: words of scripts, defaults, parameters."""

from __future__ import annotations

import ast

from precision_lint.facts.amp.optional_adapters import runs_without_adapters
from precision_lint.facts.amp.plain_runs import PlainRun
from precision_lint.facts.context import PythonFile


def rate_in_runs(node: ast.expr | None, file: PythonFile) -> float | None:
    """The largest number that an expression is in the runs that come to it; None if one of them
    leaves it open.
    """
    if node is None:
        return None
    runs = [run for run in runs_without_adapters(file) if run.reaches(node)]
    rates = [_rate(node, run) for run in runs]
    known = [rate for rate in rates if rate is not None]
    return max(known) if known and len(known) == len(rates) else None


def _rate(node: ast.expr, run: PlainRun) -> float | None:
    known = run.value(node)
    if known is None or not isinstance(known.value, str | int | float):
        return None
    try:
        return float(known.value)
    except ValueError:
        return None
