"""Findings about operands that have two dtypes: what the rules of that kind share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.witnesses import witnesses
from precision_lint.facts.dtypes.operators.agreement import Disagreement, Operand, disagreement
from precision_lint.facts.dtypes.operators.ambient import may_run_under_autocast
from precision_lint.facts.dtypes.operators.operands import may_fail_on_purpose, quoted, text_of
from precision_lint.model.dtypes import HALF
from precision_lint.model.finding import Confidence, Finding, Fix, Related, Severity
from precision_lint.model.precision import precision_of
from precision_lint.model.rule import Rule


def disagreement_findings(
    call: Call,
    file: PythonFile,
    rule: Rule,
    message: str,
    remedy: str,
    fix: Callable[[Disagreement], Fix | None],
    *,
    is_cast_by_autocast: bool = False,
) -> Iterator[Finding]:
    """The finding about a call whose operands have two dtypes.

    `message` takes the texts of both operands, `first` and `second`, and their dtypes, `one` and
    `other`. There is none for an operator that autocast gives one dtype, where a region may be on.
    """
    found = disagreement(call)
    if found is None or may_fail_on_purpose(call, file):
        return
    if is_cast_by_autocast and may_run_under_autocast(call, file):
        return
    operands = (found.first, found.second)
    related = [
        _dtype_of(each, file, dtype) for each, dtype in zip(operands, found.dtypes, strict=True)
    ]
    confidence = Confidence.MEDIUM if found.may_be_scalar else Confidence.HIGH
    if not found.is_proved:
        is_open = found.first.tensor.is_open
        open_one, dtype = (operands[not is_open], found.dtypes[not is_open])
        seen = [*witnesses([open_one.tensor], frozenset({dtype}), file, call.span)]
        related += seen
        confidence = Confidence.MEDIUM if seen else Confidence.LOW
    one, other = found.dtypes
    yield file.finding(
        rule,
        call.span,
        message.format(
            operator=found.operator,
            first=text_of(found.first.argument, file, "one operand"),
            second=text_of(found.second.argument, file, "the other operand"),
            one=one,
            other=other,
        ),
        confidence=confidence,
        severity=Severity.ERROR if found.is_proved else Severity.WARNING,
        why=f"{quoted(found.error)}. {remedy}",
        fix=fix(found),
        related=list(dict.fromkeys(related)),
        precisions=tuple(
            filter(None, (precision_of(each) for each in found.dtypes if each in HALF))
        ),
    )


def _dtype_of(operand: Operand, file: PythonFile, dtype: str) -> Related:
    """Where an operand gets its dtype; itself, if that is not one place."""
    origin = operand.tensor.origin
    if origin is not None:
        return origin.related
    return file.related(operand.argument.span, f"this is {dtype}")
