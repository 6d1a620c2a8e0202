"""Weights that are bfloat16 in the runs of an Accelerator with this precision.

`model.to(weight_dtype)` casts the model that is trained, and not only those that are not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.amp.trained_modules import optimized_by
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Model
from precision_lint.facts.origin import Choice, Origin, Setting
from precision_lint.model.dtypes import BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax_tree import syntax_tree

_OF_A_PRECISION = frozenset({BFLOAT16, FLOAT16, FLOAT32})
_ASKS = regex(r"mixed_precision\W.*bf16|bf16.*\bmixed_precision\b")


def cast_in_a_run(call: Call, calls: Sequence[Call], file: PythonFile) -> Origin | None:
    """The place that makes all weights bfloat16 that an optimizer gets, in a run with bf16."""
    choice = next(_chosen(calls), None)
    if choice is None:
        return None
    for trained in optimized_by(call, calls, file):
        value, weights = trained.value, trained.weights
        is_whole = isinstance(value, Model) and not (value.is_widened or value.adapter)
        cast = value.cast if isinstance(value, Model) else None
        if (
            is_whole
            and cast is not None
            and not cast.guards
            and weights.origin is not None
            and BFLOAT16 in weights.dtypes <= _OF_A_PRECISION
            and not weights.is_open
            and _is_for_bfloat16(weights.origin, file)
        ):
            return weights.origin.through(choice.origin)
    return None


def _chosen(calls: Sequence[Call]) -> Iterator[Choice]:
    """The places that choose bf16 for the one Accelerator of a file."""
    made = [call for call in calls if call.name == "Accelerator"]
    match [call.value(2, "mixed_precision") for call in made]:
        case [Setting(choices=choices)]:
            yield from (choice for choice in choices if choice.value == "bf16")


def _is_for_bfloat16(origin: Origin, file: PythonFile) -> bool:
    """True for a dtype that is chosen where the precision is bf16."""
    if origin.kind != "dtype" or origin.source.path != file.text.path:
        return False
    node = file.node_at(origin.span)
    around = () if node is None else syntax_tree(file).within_function(node)
    tests = [ast.unparse(each.test) for each in around if isinstance(each, ast.If)]
    return any(_ASKS.search(test) for test in tests[:1])
