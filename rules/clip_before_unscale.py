"""Gradients that are clipped or measured while they are still scaled.

## What it does
Finds `clip_grad_norm_`, `clip_grad_value_` and norms of gradients after
`scaler.scale(loss).backward()` if no path through the function calls `scaler.unscale_(optimizer)`
first. Methods of the same class and functions of the same file are followed.

## Why it hurts
The gradients are multiplied by the loss scale, 65536 at first. A threshold of 1.0 then clips every
gradient to one 65536th of the intended value, and there is no error: the model learns as if the
learning rate were tiny. A logged norm is 65536 times too large.

## Example
```python
scaler.scale(loss).backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(optimizer)
scaler.update()
```

## Use instead
```python
scaler.scale(loss).backward()
scaler.unscale_(optimizer)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(optimizer)
scaler.update()
```

## Fix safety
Safe if the function steps one optimizer after the clipping and updates the scaler before it clips
again: `unscale_` may be called once between two updates. A disabled scaler ignores it. Shown only
in all other cases.

## References
- Pitfall B03
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping
- https://github.com/milesial/Pytorch-UNet/issues/468
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from precision_lint.fixers import statements
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Event,
    EventKind,
    Finding,
    Fix,
    PathEvent,
    PythonFile,
    Rule,
    Severity,
    TrainingStep,
)

RULE = Rule(
    code="MP203",
    name="clip-before-unscale",
    summary="gradients that are clipped or measured before `unscale_`",
    severity=Severity.WARNING,
    since="0.1.0",
    fix="sometimes",
    triggers=((b".scale(",), (b"clip_grad", b".norm(")),
    pitfalls=("B03",),
)


def check_step(step: TrainingStep, file: PythonFile) -> Iterator[Finding]:
    for event in step.events:
        if event.kind not in {EventKind.CLIP, EventKind.NORM}:
            continue
        if ".get_scale" in file.text[file.span_of(event.node)]:
            continue  # the threshold is also scaled
        befores = [path.preceding(event) for path in step.scaled_ways(event)]
        made = [before for before in befores if any(each.event.kind in _MAKING for each in before)]
        backward = [_scaled_backward(before) for before in made]
        if not backward or backward[0] is None or None in backward:
            continue
        if not event.helper or event.helper != backward[0].helper:  # else reported in the helper
            yield _finding(event, backward[0], step, file)


_MAKING = frozenset(
    {EventKind.SCALED_BACKWARD, EventKind.BACKWARD, EventKind.UNSCALE, EventKind.UNKNOWN}
)
"""After these events there are gradients."""


def _finding(event: Event, backward: Event, step: TrainingStep, file: PythonFile) -> Finding:
    scaler = backward.scaler
    is_clip = event.kind is EventKind.CLIP
    return file.finding(
        RULE,
        file.span_of(event.node),
        f"the gradients are clipped before `{scaler}.unscale_`"
        if is_clip
        else f"this is the norm of gradients that `{scaler}` has scaled",
        confidence=Confidence.HIGH if is_clip else Confidence.MEDIUM,
        why="The gradients are multiplied by the loss scale, 65536 at first: "
        + ("the threshold is that much too small." if is_clip else "so is their norm."),
        fix=_fix(event, scaler, step, file),
        related=[file.related(file.span_of(backward.node), "scaled here")],
    )


def _scaled_backward(before: Sequence[PathEvent]) -> Event | None:
    """The backward that has scaled the gradients, if they are certainly scaled after `before`."""
    for each in reversed(before):
        match each.event.kind:
            case EventKind.SCALED_BACKWARD:
                return each.event
            case EventKind.UNSCALE | EventKind.UNKNOWN | EventKind.BACKWARD | EventKind.UPDATE:
                return None
    return None


def _fix(event: Event, scaler: str, step: TrainingStep, file: PythonFile) -> Fix | None:
    of_scaler = [each for each in step.events if each.scaler == scaler]
    optimizers = {each.subject for each in of_scaler if each.kind is EventKind.STEP}
    if len(optimizers) != 1:
        return None
    line = f"{scaler}.unscale_({optimizers.pop()})"
    edit = statements.insert_before(file, event.statement, line)
    if edit is None:
        return None
    rounds = [*step.paths, *(path for each in step.passes for path in each.paths)]
    is_safe = (
        not event.helper
        and not any(each.kind is EventKind.UNSCALE for each in of_scaler)
        and all(_is_renewed(path.following(event), scaler) for path in rounds if path.has(event))
    )
    return Fix(
        Applicability.SAFE if is_safe else Applicability.DISPLAY,
        "Unscale the gradients first",
        (edit,),
    )


def _is_renewed(after: Sequence[PathEvent], scaler: str) -> bool:
    """True if the optimizer is stepped and the scaler updated before the event occurs again."""
    kinds = [each.event.kind for each in after if each.event.scaler in {scaler, ""}]
    renewing = [kind for kind in kinds if kind not in {EventKind.CLIP, EventKind.NORM}]
    return renewing[:2] == [EventKind.STEP, EventKind.UPDATE]
