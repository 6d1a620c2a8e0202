"""`unscale_`, `step` and `update` in an order that the scaler does not allow.

## What it does
Follows every way through a training step, from one iteration of its loop to the next, and through
the functions of the project that it calls, and finds

- `unscale_` or `step` twice for one optimizer before `update`, or `unscale_` after `step`;
- `unscale_` or `step` in every iteration of a loop whose `update` runs only in some of them, or
  after the loop;
- a scaler that is never updated;
- `update` between the steps of two optimizers that share a backward.

Correlated branches are resolved consistently. If the scaler is passed to a function that cannot be
analyzed, nothing is reported.

## Why it hurts
The scaler tracks the state of each optimizer from one `update` to the next, and raises if an action
is repeated: `unscale_() has already been called on this optimizer since the last update().`,
`step() has already been called since the last update().`, `unscale_() is being called after
step().` With gradient accumulation this happens in the second micro-batch. An `update` that comes
too early changes the scale by which the gradients of the other optimizer are divided, without an
error.

## Example
```python
for i, batch in enumerate(loader):
    scaler.scale(model(batch) / 4).backward()
    scaler.unscale_(optimizer)
    clip_grad_norm_(model.parameters(), 1.0)
    if (i + 1) % 4 == 0:
        scaler.step(optimizer)
        scaler.update()
```

## Use instead
```python
for i, batch in enumerate(loader):
    scaler.scale(model(batch) / 4).backward()
    if (i + 1) % 4 == 0:
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
```

## Fix safety
A missing `update` is inserted after the only `step`, which is safe: without it the second step
raises. There is no fix for the other cases.

## References
- Pitfall B04
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html
- https://github.com/huggingface/accelerate/issues/641
- https://github.com/huggingface/transformers/issues/23905
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from precision_lint.fixers import statements
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Disorder,
    DisorderForm,
    EventKind,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    TrainingStep,
    disorders,
    frozen,
)

RULE = Rule(
    code="MP204",
    name="scaler-protocol",
    summary="`unscale_`, `step` and `update` of a scaler out of order",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16",),
    fix="sometimes",
    triggers=((b".unscale_(", b"scaler", b"Scaler"), (b"step", b"unscale_")),
    pitfalls=("B04",),
)

_METHODS = {EventKind.UNSCALE: "unscale_", EventKind.STEP: "step", EventKind.UPDATE: "update"}


@frozen
class _Report:
    """How a disorder is reported; `related` says what its other event is."""

    message: str
    why: str
    related: str = ""
    severity: Severity = RULE.severity
    confidence: Confidence = Confidence.HIGH


_REPORTS: Mapping[DisorderForm, _Report] = {
    "twice": _Report(
        "`{scaler}.{method}` is called after `{scaler}.{other}` of the same optimizer, with no "
        "`update` between",
        "torch raises `{error}`",
        "the first of the two",
    ),
    "update in some passes": _Report(
        "`{scaler}.{method}` runs in every iteration, but `{scaler}.update` only in some",
        "The iteration after one without `update` raises `{error}`",
        "`update` runs only in some iterations",
    ),
    "update elsewhere": _Report(
        "`{scaler}.{method}` runs in every iteration of a loop that has no `{scaler}.update`",
        "The second iteration raises `{error}`",
        "`update` runs here, outside of the loop",
        confidence=Confidence.MEDIUM,  # the loop may be passed once
    ),
    "no update": _Report(
        "`{scaler}.update` is never called", "The second iteration raises `{error}`"
    ),
    "early update": _Report(
        "`{scaler}.update` is called before the step of `{subject}`",
        "`update` can change the scale by which the gradients of that optimizer are divided: call "
        "it once, after the steps of all optimizers.",
        "the later step",
        Severity.WARNING,
        Confidence.MEDIUM,
    ),
}


def check_step(step: TrainingStep, file: PythonFile) -> Iterator[Finding]:
    for disorder in disorders(step, file):
        yield _finding(disorder, file)


def _finding(disorder: Disorder, file: PythonFile) -> Finding:
    report, event, other = _REPORTS[disorder.form], disorder.event, disorder.other
    message = report.message.format(
        scaler=event.scaler,
        method=_METHODS[event.kind],
        other=_METHODS[other.kind] if other else "",
        subject=other.subject if other else "",
    )
    related = [] if other is None else [other.related(report.related)]
    return file.finding(
        RULE,
        file.span_of(event.call or event.node),
        message,
        severity=report.severity,
        confidence=report.confidence if disorder.is_certain else Confidence.MEDIUM,
        why=report.why.format(error=disorder.error),
        fix=_update_after(disorder, file) if disorder.form == "no update" else None,
        related=related,
    )


def _update_after(disorder: Disorder, file: PythonFile) -> Fix | None:
    event = disorder.event
    edit = statements.insert_after(file, event.statement, f"{event.scaler}.update()")
    if edit is None or not disorder.is_only_step:
        return None
    return Fix(Applicability.SAFE, "Update the scaler after the step", (edit,))
