"""What one evaluation of a kernel sees."""

from __future__ import annotations

import ast
from typing import Literal

from precision_lint.facts.triton.values import UNKNOWN, Value
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen

Kind = Literal[
    "reduction",
    "accumulator",
    "atomic",
    "offset",
    "late cast",
    "update",
    "float64",
    "infinity",
    "zero",
    "tf32",
]
Key = tuple[Kind, Span, str]


@frozen
class Observation:
    """One thing that an evaluation sees.

    `subject` is the function, the variable, the parameter or the number that it is about; `value`
    what is summed, accumulated, addressed or computed, `before` what a loop starts to accumulate
    from. `start` and `given` are the expressions that they come from.
    """

    kind: Kind
    place: Span
    subject: str
    value: Value = UNKNOWN
    before: Value = UNKNOWN
    start: ast.expr | None = None
    given: ast.expr | None = None
    related: Span | None = None
    is_conditional: bool = False
    """For some compile-time choices only."""
    is_elsewhere: bool = False
    """In another file; `place` is the call that leads there."""
    is_repeated: bool = False
    """In a loop of the kernel."""
    is_slight: bool = False
    """It rounds a few times, as far as is known."""

    @property
    def key(self) -> Key:
        return self.kind, self.place, self.subject
