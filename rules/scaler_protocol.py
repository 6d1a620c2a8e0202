"""`unscale_`, `step` and `update` in an order that the scaler does not allow.

## What it does
Follows every path through a training step, and from one iteration of its loop to the next, and
finds

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

import re
from collections.abc import Iterator

from precision_lint.amp.conditions import Assumed, mentions
from precision_lint.amp.events import Event, Kind
from precision_lint.amp.paths import Happening, Left, Path
from precision_lint.amp.protocol import Pass, TrainingStep
from precision_lint.finding import Applicability, Confidence, Finding, Fix, Severity
from precision_lint.fixers import statements
from precision_lint.rule import Rule
from precision_lint.source.python import PythonFile

RULE = Rule(
    code="MP204",
    name="scaler-protocol",
    summary="`unscale_`, `step` and `update` of a scaler out of order",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b".unscale_(", b"scaler", b"Scaler"), (b".step(",)),
    pitfalls=("B04",),
)

_BOOKED = {Kind.UNSCALE: "unscale_", Kind.STEP: "step"}
_ERRORS = {
    (Kind.UNSCALE, Kind.UNSCALE): "unscale_() has already been called on this optimizer since the "
    "last update().",
    (Kind.STEP, Kind.UNSCALE): "unscale_() is being called after step().",
    (Kind.STEP, Kind.STEP): "step() has already been called since the last update().",
}
"""What torch 2.13 raises for the second of two events."""


def check_step(step: TrainingStep, file: PythonFile) -> Iterator[Finding]:
    told: set[tuple[str, str]] = set()
    for event in step.events:
        if event.kind not in _BOOKED or event.helper:
            continue
        finding = (
            _twice(event, step, file)
            or _in_every_pass(event, step, file)
            or _between_steps(event, step, file)
        )
        # What comes behind follows from the first that is out of order.
        if finding is not None and (event.scaler, event.subject) not in told:
            told.add((event.scaler, event.subject))
            yield finding


# In one pass


def _twice(event: Event, step: TrainingStep, file: PythonFile) -> Finding | None:
    """The event comes behind another that the scaler has booked and not yet forgotten."""
    if mentions(event.subject, step.looped):
        return None  # another optimizer each time
    booked = [_booked(path, event) for path in step.through(event)]
    found = [each for each in booked if each is not None]
    if not found:
        return None
    first, here = found[0]
    cleared = [
        path
        for path, each in zip(step.through(event), booked, strict=True)
        if each is None and path.has(first.event) and first.event.node is not event.node
    ]
    if cleared and all(first.event.node is other.event.node for other, _ in found):
        return None  # the update is there, and only seems to be passed by
    is_certain = dict(first.assumed) == dict(here.assumed)
    return file.finding(
        RULE,
        file.span_of(event.node),
        f"`{event.scaler}.{_BOOKED[event.kind]}` comes behind "
        f"`{event.scaler}.{_BOOKED[first.event.kind]}` of the same optimizer, with no `update` "
        "between",
        confidence=Confidence.HIGH if is_certain else Confidence.MEDIUM,
        why=f"torch raises `{_ERRORS[first.event.kind, event.kind]}`",
        related=[file.related(file.span_of(first.event.node), "the first of the two")],
    )


def _booked(path: Path, event: Event) -> tuple[Happening, Happening] | None:
    """The event that forbids this one on a path, and this one; None if nothing does."""
    book: Happening | None = None
    for each in path.happenings:
        other = each.event
        if other.node is event.node:
            is_forbidden = book is not None and (book.event.kind, event.kind) in _ERRORS
            return (book, each) if is_forbidden and book is not None else None
        if other.kind is Kind.UNKNOWN or (other.kind, other.scaler) == (Kind.UPDATE, event.scaler):
            book = None
        elif other.kind in _BOOKED and _is_same(other, event):
            book = each
    return None


def _is_same(one: Event, other: Event) -> bool:
    return (one.scaler, one.subject) == (other.scaler, other.subject)


# From one pass to the next


def _in_every_pass(event: Event, step: TrainingStep, file: PythonFile) -> Finding | None:
    """The event comes in every pass of a loop, and the update does not."""
    for each in step.passes:
        ways = [path for path in each.paths if path.has(event)]
        if not ways or mentions(event.subject, each.changing):
            continue
        if any(_renews(other, event.scaler) for path in ways for other in path.before(event)):
            continue
        if any(_is_varying(_assumed(path, event), each) for path in ways):
            continue  # not in every pass
        renewed = [path for path in ways if _renewal(path, event) is not None]
        passed = [path for path in ways if path not in renewed and path.left in {None, Left.PASS}]
        if renewed:
            for path in passed:
                for other in renewed:
                    if _differ_by_pass(path.assumed, other.assumed, each):
                        renewal = _renewal(other, event)
                        assert renewal is not None
                        if renewal.kind is Kind.UPDATE:
                            return _accumulated(event, renewal, file)
        elif passed and not any(other.kind is Kind.UNKNOWN for other in step.events):
            return _never_renewed(event, each, step, file)
    return None


def _accumulated(event: Event, update: Event, file: PythonFile) -> Finding:
    method = _BOOKED[event.kind]
    return file.finding(
        RULE,
        file.span_of(event.node),
        f"`{event.scaler}.{method}` comes in every pass, `{event.scaler}.update` only in some",
        confidence=Confidence.HIGH,
        why=f"The next pass raises `{_ERRORS[event.kind, event.kind]}`",
        related=[file.related(file.span_of(update.node), "only in some passes")],
    )


def _never_renewed(
    event: Event, each: Pass, step: TrainingStep, file: PythonFile
) -> Finding | None:
    updates = [
        other for other in step.events if other.kind is Kind.UPDATE and other.scaler == event.scaler
    ]
    why = f"The second pass raises `{_ERRORS[event.kind, event.kind]}`"
    if updates:
        return file.finding(
            RULE,
            file.span_of(event.node),
            f"`{event.scaler}.{_BOOKED[event.kind]}` comes in every pass of a loop that has no "
            f"`{event.scaler}.update`",
            confidence=Confidence.MEDIUM,  # the loop may be passed once
            why=why,
            related=[file.related(file.span_of(updates[0].node), "outside of the loop")],
        )
    last = event.scaler.rpartition(".")[2]
    is_updated = re.search(rf"\b{re.escape(last)}\.update\(", file.text.text) is not None
    if event.kind is not Kind.STEP or is_updated or event.scaler.startswith("self."):
        return None
    return file.finding(
        RULE,
        file.span_of(event.node),
        f"`{event.scaler}` is never updated",
        confidence=Confidence.HIGH,
        why=why,
        fix=_update_behind(event, each, file),
    )


def _update_behind(event: Event, each: Pass, file: PythonFile) -> Fix | None:
    steps = {
        id(other.event.node)
        for path in each.paths
        for other in path.happenings
        if other.event.kind is Kind.STEP and other.event.scaler == event.scaler
    }
    edit = statements.insert_after(file, event.statement, f"{event.scaler}.update()")
    if edit is None or len(steps) != 1:
        return None
    return Fix(Applicability.SAFE, "Update the scaler behind the step", (edit,))


def _renews(each: Happening, scaler: str) -> bool:
    return each.event.kind is Kind.UNKNOWN or (each.event.kind, each.event.scaler) == (
        Kind.UPDATE,
        scaler,
    )


def _renewal(path: Path, event: Event) -> Event | None:
    """What makes the scaler forget the event on this path, or may."""
    return next((each.event for each in path.behind(event) if _renews(each, event.scaler)), None)


def _assumed(path: Path, event: Event) -> Assumed:
    return next(each.assumed for each in path.happenings if each.event.node is event.node)


def _is_varying(assumed: Assumed, each: Pass) -> bool:
    return any(_varies(text, each) for text in assumed)


def _varies(text: str, each: Pass) -> bool:
    """Whether a condition can be another one in the next pass."""
    return "%" in text or "(" in text or mentions(text, each.changing)


def _differ_by_pass(one: Assumed, other: Assumed, each: Pass) -> bool:
    """Whether two paths go different ways only for what changes from pass to pass."""
    different = [text for text in one.keys() & other.keys() if one[text] != other[text]]
    return bool(different) and all(_varies(text, each) for text in different)


# Several optimizers


def _between_steps(event: Event, step: TrainingStep, file: PythonFile) -> Finding | None:
    """The step of a second optimizer behind an update, the backward of both before it."""
    if event.kind is not Kind.STEP or mentions(event.subject, step.looped):
        return None
    for path in step.through(event):
        update: Event | None = None
        for each in reversed(path.before(event)):
            other = each.event
            if other.kind in {Kind.SCALED_BACKWARD, Kind.BACKWARD, Kind.UNKNOWN}:
                break
            if (other.kind, other.scaler) == (Kind.UPDATE, event.scaler):
                update = other
            if other.kind is Kind.STEP and other.scaler == event.scaler:
                if update is None or other.subject == event.subject:
                    break
                return file.finding(
                    RULE,
                    file.span_of(update.node),
                    f"`{event.scaler}.update` comes before `{event.subject}` has stepped",
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                    why="It can change the scale by which the gradients of that optimizer are "
                    "divided: update once, when all optimizers have stepped.",
                    related=[file.related(file.span_of(event.node), "the later step")],
                )
    return None
