"""Gradients that are clipped or measured while they are still scaled.

## What it does
Finds `clip_grad_norm_`, `clip_grad_value_` and norms of gradients after
`scaler.scale(loss).backward()` if no way through the function calls `scaler.unscale_(optimizer)`
first. Methods of the class and of its bases, functions of the project that are called, and methods
of its objects are followed. So is a callback, `getattr(callback, event)(self)` for the event that a
call names, if one class alone has its method and nothing in the project unscales gradients. Methods
that a class inherits are judged again with those of their helpers that the class overrides. Where a
class of another file fills in an empty method (`after_backward`) and names no scaler, the call of
the method is reported. Where another function scales the loss, clipping is reported directly before
`scaler.step(optimizer)` if no code of the project calls `unscale_`.

Also finds `torch.nn.utils.clip_grad_norm_` after `accelerator.backward(loss)` in the same function,
where the `Accelerator` gets `fp16`: written out, by default, as a choice of an option, or from a
launch. In a class that extends a Trainer of transformers or TRL, `fp16` of its arguments counts.
Not where the file names `unscale_gradients` or clips with an accelerator, and not where DeepSpeed
or FSDP may scale.

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
Safe if the function steps one optimizer after every clipping and updates the scaler before it clips
again: `unscale_` may be called once between two updates, and raises otherwise. A disabled scaler
ignores it. No fix where that is not certain: the clipping is in every micro-batch of an
accumulation, in a loop over parameter groups, or under another condition than the step. Shown only
where the clipping is in a function that others call, or another path calls `unscale_`.

## References
- Pitfall B03
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping
- https://github.com/milesial/Pytorch-UNet/issues/468
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from precision_lint.fixers import statements
from precision_lint.rule_api import (
    AcceleratedClip,
    Applicability,
    Confidence,
    Edit,
    Event,
    EventKind,
    Finding,
    Fix,
    Gradients,
    PythonFile,
    Rule,
    Severity,
    State,
    TrainingStep,
    accelerated_clips,
    callee_name,
)

RULE = Rule(
    code="MP203",
    name="clip-before-unscale",
    summary="gradients that are clipped or measured before `unscale_`",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16",),
    fix="sometimes",
    triggers=((b".scale(", b"scaler", b"Scaler", b"ccelerator"), (b"clip", b".norm(", b"step")),
    pitfalls=("B03",),
)


def check_step(step: TrainingStep, file: PythonFile) -> Iterator[Finding]:
    for event in step.events:
        if event.kind not in _MEASURING or not step.is_own(event):
            continue
        if ".get_scale" in file.text[file.span_of(step.place(event))]:
            continue  # the threshold is also scaled
        states = step.scaled_states(event)
        scaled = _scaled(states)
        if scaled is not None:
            if not _is_inside(event, scaled) and not _is_reported(event, step):
                yield _finding(event, scaled, step, file)
        elif not step.is_called and all(state.gradients in _NOTHING for state in states):
            stepped = _stepped(event, step, file)
            if stepped is not None:
                yield _before_step(event, stepped, step, file)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in accelerated_clips(file):
        accelerator = file.text[file.span_of(found.accelerator)]
        yield file.finding(
            RULE,
            file.span_of(found.clip),
            f"the gradients are clipped while `{accelerator}` has them scaled",
            confidence=Confidence.MEDIUM,
            why="In float16 the gradients are multiplied by the loss scale, 65536 at first: the "
            "threshold is too small by that factor. "
            f"`{accelerator}.{callee_name(found.clip)}` unscales them first.",
            fix=_by_accelerator(found, accelerator, file),
            related=[
                file.related(file.span_of(found.backward), "the loss is scaled here"),
                found.chosen,
            ],
        )


def _by_accelerator(found: AcceleratedClip, accelerator: str, file: PythonFile) -> Fix | None:
    """The clip of the accelerator. It raises where an optimizer takes several passes for a step."""
    known = {"parameters", "max_norm", "norm_type", "clip_value"}
    if any(keyword.arg not in known for keyword in found.clip.keywords):
        return None
    name = f"{accelerator}.{callee_name(found.clip)}"
    edit = Edit(file.span_of(found.clip.func), name)
    return Fix(Applicability.DISPLAY, f"Clip with `{name}`, once for each step", (edit,))


_MEASURING = frozenset({EventKind.CLIP, EventKind.NORM})
_STEPS = frozenset({EventKind.STEP, EventKind.PLAIN_STEP})

_NOTHING = frozenset({Gradients.UNTOUCHED, Gradients.UPDATED})
"""Where there are no gradients of this step, as far as it shows."""


def _is_inside(event: Event, backward: Event) -> bool:
    """True if one call of a helper does both: they are reported in the helper."""
    return event.call is not None and event.call is backward.call


def _is_reported(event: Event, step: TrainingStep) -> bool:
    """True if an earlier step of the file calls the same helper, and finds the same."""
    return any(
        other.place(each) is step.place(event)
        and (scaled := _scaled(other.scaled_states(each))) is not None
        and not _is_inside(each, scaled)
        for other in step.earlier
        for each in other.events
        if each.kind in _MEASURING
    )


def _scaled(states: Iterable[State]) -> Event | None:
    """The backward that has scaled the gradients, if there are any and all of them are scaled."""
    made = [state for state in states if state.gradients not in _NOTHING]
    if not made or any(state.gradients is not Gradients.SCALED for state in made):
        return None
    return made[0].made


def _stepped(event: Event, step: TrainingStep, file: PythonFile) -> Event | None:
    """The scaler's step that takes the gradients next, if nothing in the project unscales any."""
    after = step.following(event, lambda each: each.kind not in _MEASURING)
    steps = [each for each in after if each is not None and each.kind is EventKind.STEP]
    is_next = all(each is not None and each.kind in _STEPS for each in after)
    if not steps or not is_next or file.project.python_source_matches(rb"\.unscale_\("):
        return None
    return steps[0]


def _before_step(event: Event, stepped: Event, step: TrainingStep, file: PythonFile) -> Finding:
    """The finding where another function scales the loss."""
    is_clip = event.kind is EventKind.CLIP
    unscaled = f"`{stepped.scaler}.step`, which unscales them"
    return file.finding(
        RULE,
        file.span_of(step.place(event)),
        f"the gradients are {'clipped' if is_clip else 'measured'} before {unscaled}",
        confidence=Confidence.MEDIUM,
        why="Until then the gradients are multiplied by the loss scale, 65536 at first, and "
        "nothing in the project calls `unscale_`.",
        related=[stepped.related("they are unscaled here")],
    )


def _finding(event: Event, backward: Event, step: TrainingStep, file: PythonFile) -> Finding:
    scaler = backward.scaler
    is_clip = event.kind is EventKind.CLIP
    related = [backward.related("the loss is scaled here")]
    place = step.place(event)
    inside = ""
    if place is not event.node:
        inside = f" in `{event.helper}`"
        related.append(
            event.related("the gradients are clipped here" if is_clip else "the norm is taken here")
        )
    is_certain = is_clip and not event.is_called_back and not step.is_of_another_file
    return file.finding(
        RULE,
        file.span_of(place),
        f"the gradients are clipped{inside} before `{scaler}.unscale_`"
        if is_clip
        else f"this is the norm of gradients that `{scaler}` has scaled",
        confidence=Confidence.HIGH if is_certain else Confidence.MEDIUM,
        why="The gradients are multiplied by the loss scale, 65536 at first: "
        + ("the threshold is too small by that factor." if is_clip else "so is their norm."),
        fix=_fix(event, scaler, step, file),
        related=related,
    )


def _fix(event: Event, scaler: str, step: TrainingStep, file: PythonFile) -> Fix | None:
    of_scaler = [each for each in step.events if each.scaler == scaler]
    optimizers = {each.subject for each in of_scaler if each.kind is EventKind.STEP}
    if len(optimizers) != 1 or step.place(event) is not event.node:
        return None
    if any(state.measured for state in step.states(event)) or not _is_renewed(event, scaler, step):
        return None  # `unscale_` raises where it is called twice between two updates
    line = f"{scaler}.unscale_({optimizers.pop()})"
    edit = statements.insert_before(file, event.statement, line)
    if edit is None:
        return None
    is_safe = not event.helper and not any(each.kind is EventKind.UNSCALE for each in of_scaler)
    return Fix(
        Applicability.SAFE if is_safe else Applicability.DISPLAY,
        "Unscale the gradients first",
        (edit,),
    )


def _is_renewed(event: Event, scaler: str, step: TrainingStep) -> bool:
    """True if the optimizer is stepped and the scaler updated before the event occurs again."""

    def matters(each: Event) -> bool:
        return each.scaler in {scaler, ""} and each.kind not in _MEASURING

    after = step.following(event, matters)
    return all(
        each is not None
        and each.kind is EventKind.STEP
        and all(
            other is not None and other.kind is EventKind.UPDATE
            for other in step.following(each, matters)
        )
        for each in after
    )
