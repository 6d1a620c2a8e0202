"""What context managers give to who enters them."""

from __future__ import annotations

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import (
    FunctionValue,
    Instance,
    Sequence,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate

ENTERING = frozenset({"enter_context", "enter_async_context"})
"""Methods of an `ExitStack` that enter a context and give what it gives."""


def entered(evaluate: Evaluate, context: Value) -> Value:
    """What `with context as x` gives to `x`."""
    match context:
        case Sequence(items=None, item=yielded):  # a generator made a context manager
            return yielded
        case Instance():
            method = evaluate.analysis.instances.attribute(context, "__enter__")
            if isinstance(method, FunctionValue):
                region = evaluate.frame.region
                found = evaluate.analysis.summaries.result(method, Environment(), region).value
                return context if isinstance(found, Unknown) else found
    return context
