"""What is said about a kernel that compiles."""

from __future__ import annotations

from precision_lint.facts.triton.notes.remedies import Pin
from precision_lint.facts.triton.notes.sights import Kind
from precision_lint.facts.triton.rejections import ASSUMPTIONS
from precision_lint.facts.triton.remedies import Remedy
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen


@frozen
class Note:
    """Something that Triton accepts in a kernel, and that the author may not have meant.

    `subject` is the function that sums, the variable that accumulates, the parameter that is
    addressed, updated or float64, or the number that half precision has not. `holds_for` are the
    dtypes of the pointers for which it is so.
    """

    kind: Kind
    span: Span
    subject: str
    holds_for: frozenset[str]
    is_shown: bool
    """The kernel or its launch show that it may be so: elements that take the dtype of what the
    caller passes, a parameter that is a float for certain."""
    is_slight: bool = False
    """It rounds a few times, as far as is known: whoever splits a sum into parts knows that."""
    is_conditional: bool = False
    """For some compile-time choices only."""
    computed_in: frozenset[str] = frozenset()
    """The dtypes that a number is converted to."""
    compiler_message: str = ""
    """What Triton says where a float64 parameter does not compile; empty if it does."""
    related: tuple[Related, ...] = ()
    remedy: Remedy | Pin | None = None

    @property
    def always(self) -> bool:
        """Whatever the pointers point to: half precision is written in the file."""
        return self.holds_for == frozenset(ASSUMPTIONS)


@frozen
class Notes:
    """The notes of one kernel, and the pointer parameters that int64 offsets are added to."""

    notes: tuple[Note, ...] = ()
    wide: frozenset[str] = frozenset()
