"""The calls that a file makes as a program, as far as numbers or errors depend on their dtypes."""

from __future__ import annotations

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes._generated.kernels import AGREEING
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.libraries.refusals import REFUSALS
from precision_lint.facts.dtypes.operators.collectives import COLLECTIVES
from precision_lint.facts.dtypes.operators.lacking import LACKING_CALLS
from precision_lint.facts.dtypes.operators.module_inputs import LAYERS
from precision_lint.facts.dtypes.operators.operands import may_fail_on_purpose, of_real_numbers
from precision_lint.facts.dtypes.program_run import calls_in_program
from precision_lint.facts.numerics.fills import FILLS
from precision_lint.facts.numerics.half_updates import HALF_UPDATES
from precision_lint.model.memo import fact

ARITHMETIC = frozenset({"add", "sub", "mul", "div"})
ROUNDED = frozenset(
    {
        "arange", "linspace", "outer", "ger", "mean", "sum", "zeros", "tensor", "deepcopy", "rand",
        "rand_like", "cumsum",
    }
)  # fmt: skip
"""Calls whose results may need more digits than half precision has."""

WEIGHT_FILES = frozenset({"save_file", "save_model", "load_file", "safe_open"})
"""Calls that write or read a file of weights."""

_ASKED = LACKING_CALLS | LAYERS | FILLS | ARITHMETIC | ROUNDED | COLLECTIVES | HALF_UPDATES
_ASKED |= WEIGHT_FILES | {"Sequential", "Embedding"}
_ASKED |= {name.rpartition(".")[2] for name in (*AGREEING, *REFUSALS)}


@fact
def calls_of_program(file: PythonFile) -> tuple[Call, ...]:
    """The calls in the order in which the program comes to them, but for those meant to fail."""
    every = map(of_real_numbers, calls_in_program(file, _ASKED))
    return tuple(call for call in every if not may_fail_on_purpose(call, file))
