"""Findings about what Triton rejects in a kernel, and about what it accepts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.triton.certainty import certainty, note_certainty, severity
from precision_lint.facts.triton.kernels import Kernel
from precision_lint.facts.triton.notes.note import Note
from precision_lint.facts.triton.notes.remedies import Pin
from precision_lint.facts.triton.rejections import ReportedError
from precision_lint.facts.triton.remedies import Remedy
from precision_lint.model.finding import Finding, Fix
from precision_lint.model.rule import Rule

Repair = Callable[[Remedy | Pin | None], Fix | None]
"""Makes the fix of a remedy: `fixers.triton.fix`."""


def rejection_findings(
    kernel: Kernel,
    file: PythonFile,
    rule: Rule,
    kinds: Collection[str],
    message: Callable[[ReportedError], str],
    repair: Repair,
) -> Iterator[Finding]:
    """The findings of a rule about the rejections of some kinds."""
    for rejection in kernel.rejections:
        if rejection.kind in kinds:
            confidence = certainty(rejection, kernel, file)
            yield file.finding(
                rule,
                rejection.span,
                message(rejection),
                confidence=confidence,
                severity=severity(confidence),
                why=rejection.compiler_says,
                fix=repair(rejection.remedy),
                related=rejection.related,
            )


def note_findings(
    kernel: Kernel,
    file: PythonFile,
    rule: Rule,
    kinds: Collection[str],
    message: Callable[[Note], str],
    why: Callable[[Note], str],
    repair: Repair | None = None,
) -> Iterator[Finding]:
    """The findings of a rule about the notes of some kinds."""
    for note in kernel.notes:
        if note.kind in kinds:
            yield file.finding(
                rule,
                note.span,
                message(note),
                confidence=note_certainty(note, kernel, file),
                why=why(note),
                fix=None if repair is None else repair(note.remedy),
                related=note.related,
            )
