"""What every rule sees of a file, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from precision_lint.finding import Confidence, Finding, Fix, Related, Severity, Span
from precision_lint.project import Project
from precision_lint.rule import Rule
from precision_lint.source.text import SourceText


@dataclass(frozen=True)
class File:
    """A file's text in its project. Python and configuration files extend it with their facts."""

    text: SourceText
    project: Project

    def finding(
        self,
        rule: Rule,
        span: Span,
        message: str,
        *,
        confidence: Confidence,
        severity: Severity | None = None,
        why: str = "",
        fix: Fix | None = None,
        related: Sequence[Related] = (),
    ) -> Finding:
        """A finding of `rule` at `span`; `severity` defaults to the rule's own.

        What is not proved has low confidence in tests, benchmarks and vendored code: their authors
        choose dtypes on purpose, or maintain the code elsewhere.
        """
        if confidence is Confidence.MEDIUM and self.project.is_secondary(self.text.path):
            confidence = Confidence.LOW
        place = self.text.place(span)
        continued = self.text.around(place).line(place.start.row).endswith("\\")
        return Finding(
            code=rule.code,
            name=rule.name,
            message=message,
            severity=rule.severity if severity is None else severity,
            confidence=confidence,
            place=place,
            why=why,
            fix=fix,
            related=tuple(related),
            noqa_row=place.end.row if continued else place.start.row,
        )

    def related(self, span: Span, message: str) -> Related:
        """The other half of a finding, in this same file."""
        return Related(self.text.place(span), message)

    def chosen_by_caller(self) -> Confidence:
        """How sure a finding about a kernel can be whose caller chooses the dtype.

        Medium if the project shows that it uses half precision, low otherwise.
        """
        return Confidence.MEDIUM if self.project.half_precision else Confidence.LOW

    def bfloat16(self) -> Related | None:
        """Where the project enables bfloat16, so that a checkpoint in it can hold bfloat16."""
        return self.project.bfloat16
