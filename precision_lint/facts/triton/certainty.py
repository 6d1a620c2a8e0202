"""How sure a finding about a kernel is: what shows that its pointers hold half precision?"""

from __future__ import annotations

from precision_lint.facts.context import PythonFile
from precision_lint.facts.triton.dtypes import HALF
from precision_lint.facts.triton.kernels import Kernel
from precision_lint.facts.triton.notes.note import Note
from precision_lint.facts.triton.rejections import ReportedError
from precision_lint.facts.triton.users import only_in_float32
from precision_lint.model.finding import Confidence, Severity


def certainty(rejection: ReportedError, kernel: Kernel, file: PythonFile) -> Confidence:
    """The confidence of a finding that reports a rejection.

    Kernels load float32 state, too, so that a pointer could hold half precision is not enough: the
    kernel or its launch must show that it takes more than one dtype. A launch in another file may
    cast to float32 first, so that it shows nothing.
    """
    if rejection.is_of_float8 and (rejection.is_conditional or not rejection.always):
        # A flag tells the kernel that it gets float8, and what float8 meets may be float8, too.
        return Confidence.LOW
    if rejection.is_of_none and rejection.is_conditional:
        # Who passes None in place of a pointer also sets the flag that leaves it alone.
        return Confidence.LOW
    if rejection.always:
        return Confidence.MEDIUM if rejection.is_conditional else Confidence.HIGH
    if kernel.is_launched and _is_meant_for_half(rejection):
        return _chosen_by_caller(kernel, file)
    return Confidence.LOW


def severity(confidence: Confidence) -> Severity:
    """An error only where something says that the dtype that fails is used."""
    return Severity.WARNING if confidence is Confidence.LOW else Severity.ERROR


def _is_meant_for_half(rejection: ReportedError) -> bool:
    if not rejection.fails_for >= HALF:
        return False  # made for the one that works
    match rejection.kind:
        case "mismatch":
            return False  # a default of 0.0 beside what is loaded
        case "branch" | "loop" | "ternary" | "return":
            # A value that promotes itself shows what its author expects of the elements.
            return rejection.promotes_itself
    # A compile-time choice may be made by the dtype.
    return rejection.varies and not rejection.is_conditional


def note_certainty(note: Note, kernel: Kernel, file: PythonFile) -> Confidence:
    """The confidence of a finding about what a kernel computes in half precision."""
    if note.is_slight:
        return Confidence.LOW
    if note.always:
        return Confidence.MEDIUM if note.is_conditional else Confidence.HIGH
    if note.kind in ("zero", "infinity") and not note.holds_for >= HALF:
        return (
            Confidence.LOW
        )  # the number is fine in the other half dtype, which may be the one used
    if kernel.is_launched and note.is_shown:
        return _chosen_by_caller(kernel, file, is_float16="bf16" not in note.holds_for)
    return Confidence.LOW


def _chosen_by_caller(kernel: Kernel, file: PythonFile, *, is_float16: bool = False) -> Confidence:
    """What the rest of a project uses says nothing of a kernel that has users of its own."""
    if only_in_float32(file, kernel.name):
        return Confidence.LOW
    return file.chosen_by_caller(is_float16=is_float16)
