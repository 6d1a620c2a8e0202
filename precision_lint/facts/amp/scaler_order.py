"""Calls of `unscale_`, `step` and `update` of a scaler in a wrong order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from precision_lint.facts.amp.conditions import PathConditions, mentions
from precision_lint.facts.amp.events import Event, EventKind
from precision_lint.facts.amp.paths import Exit, Path, PathEvent
from precision_lint.facts.amp.protocol import Pass, TrainingStep
from precision_lint.facts.context import PythonFile

_BOOKED = frozenset({EventKind.UNSCALE, EventKind.STEP})
_ERRORS = {
    (EventKind.UNSCALE, EventKind.UNSCALE): "unscale_() has already been called on this optimizer "
    "since the last update().",
    (EventKind.STEP, EventKind.UNSCALE): "unscale_() is being called after step().",
    (EventKind.STEP, EventKind.STEP): "step() has already been called since the last update().",
}
"""What torch 2.13 raises for the second of two events."""

DisorderForm = Literal[
    "twice", "update in some passes", "update elsewhere", "no update", "early update"
]


@dataclass(frozen=True, slots=True)
class Disorder:
    """An event in a wrong order, the event that it conflicts with, and the error of torch.

    twice                  `event` follows `other`, and no update is between them
    update in some passes  `event` comes in every pass of a loop, and the update `other` does not
    update elsewhere       `event` comes in a loop that does not hold the update `other`
    no update              `event` comes in a loop, and nothing updates the scaler
    early update           the update `event` comes before the step `other`
    """

    form: DisorderForm
    event: Event
    other: Event | None
    error: str = ""
    is_certain: bool = True
    """False if the two depend on different conditions."""

    is_only_step: bool = False
    """True if the loop steps in one place."""


def disorders(step: TrainingStep, file: PythonFile) -> Iterator[Disorder]:
    """The first disorder of every optimizer in a training step; later ones follow from it."""
    reported: set[tuple[str, str]] = set()
    for event in step.events:
        if event.kind not in _BOOKED or event.helper:
            continue
        found = (
            _twice(event, step) or _in_every_pass(event, step, file) or _between_steps(event, step)
        )
        if found is not None and (event.scaler, event.subject) not in reported:
            reported.add((event.scaler, event.subject))
            yield found


# In one pass


def _twice(event: Event, step: TrainingStep) -> Disorder | None:
    """The event follows another that the scaler has recorded and not yet forgotten."""
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
    is_certain = dict(first.path_conditions) == dict(here.path_conditions)
    error = _ERRORS[first.event.kind, event.kind]
    return Disorder("twice", event, first.event, error, is_certain)


def _booked(path: Path, event: Event) -> tuple[PathEvent, PathEvent] | None:
    """The event that forbids this one on a path, and this one; None if nothing does."""
    book: PathEvent | None = None
    for each in path.events:
        other = each.event
        if other.node is event.node:
            is_forbidden = book is not None and (book.event.kind, event.kind) in _ERRORS
            return (book, each) if is_forbidden and book is not None else None
        if other.kind is EventKind.UNKNOWN or (other.kind, other.scaler) == (
            EventKind.UPDATE,
            event.scaler,
        ):
            book = None
        elif other.kind in _BOOKED and _is_same(other, event):
            book = each
    return None


def _is_same(one: Event, other: Event) -> bool:
    return (one.scaler, one.subject) == (other.scaler, other.subject)


# From one pass to the next


def _in_every_pass(event: Event, step: TrainingStep, file: PythonFile) -> Disorder | None:
    """The event occurs in every pass of a loop, and the update does not."""
    for each in step.passes:
        ways = [path for path in each.paths if path.has(event)]
        if not ways or mentions(event.subject, each.changing):
            continue
        if any(_renews(other, event.scaler) for path in ways for other in path.preceding(event)):
            continue
        if any(_is_varying(_assumed(path, event), each) for path in ways):
            continue  # not in every pass
        renewed = [path for path in ways if _renewal(path, event) is not None]
        passed = [
            path for path in ways if path not in renewed and path.exit in {None, Exit.CONTINUE}
        ]
        if renewed:
            for path in passed:
                for other in renewed:
                    if _differ_by_pass(path.path_conditions, other.path_conditions, each):
                        renewal = _renewal(other, event)
                        assert renewal is not None
                        if renewal.kind is EventKind.UPDATE:
                            error = _ERRORS[event.kind, event.kind]
                            return Disorder("update in some passes", event, renewal, error)
        elif passed and not any(other.kind is EventKind.UNKNOWN for other in step.events):
            return _never_renewed(event, each, step, file)
    return None


def _never_renewed(
    event: Event, each: Pass, step: TrainingStep, file: PythonFile
) -> Disorder | None:
    error = _ERRORS[event.kind, event.kind]
    for other in step.events:
        if other.kind is EventKind.UPDATE and other.scaler == event.scaler:
            return Disorder("update elsewhere", event, other, error)
    last = event.scaler.rpartition(".")[2]
    is_updated = re.search(rf"\b{re.escape(last)}\.update\(", file.text.text) is not None
    if event.kind is not EventKind.STEP or is_updated or event.scaler.startswith("self."):
        return None
    return Disorder("no update", event, None, error, is_only_step=_steps(event.scaler, each) == 1)


def _steps(scaler: str, each: Pass) -> int:
    """In how many places a pass steps a scaler."""
    steps = {
        id(other.event.node)
        for path in each.paths
        for other in path.events
        if other.event.kind is EventKind.STEP and other.event.scaler == scaler
    }
    return len(steps)


def _renews(each: PathEvent, scaler: str) -> bool:
    return each.event.kind is EventKind.UNKNOWN or (each.event.kind, each.event.scaler) == (
        EventKind.UPDATE,
        scaler,
    )


def _renewal(path: Path, event: Event) -> Event | None:
    """What makes the scaler forget the event on this path, or may."""
    return next((each.event for each in path.following(event) if _renews(each, event.scaler)), None)


def _assumed(path: Path, event: Event) -> PathConditions:
    return next(each.path_conditions for each in path.events if each.event.node is event.node)


def _is_varying(assumed: PathConditions, each: Pass) -> bool:
    return any(_varies(text, each) for text in assumed)


def _varies(text: str, each: Pass) -> bool:
    """Whether a condition can be another one in the next pass."""
    return "%" in text or "(" in text or mentions(text, each.changing)


def _differ_by_pass(one: PathConditions, other: PathConditions, each: Pass) -> bool:
    """Whether two paths go different ways only for what changes from pass to pass."""
    different = [text for text in one.keys() & other.keys() if one[text] != other[text]]
    return bool(different) and all(_varies(text, each) for text in different)


# Several optimizers


def _between_steps(event: Event, step: TrainingStep) -> Disorder | None:
    """The step of a second optimizer after an update, the backward of both before it."""
    if event.kind is not EventKind.STEP or mentions(event.subject, step.looped):
        return None
    for path in step.through(event):
        update: Event | None = None
        for each in reversed(path.preceding(event)):
            other = each.event
            if other.kind in {EventKind.SCALED_BACKWARD, EventKind.BACKWARD, EventKind.UNKNOWN}:
                break
            if (other.kind, other.scaler) == (EventKind.UPDATE, event.scaler):
                update = other
            if other.kind is EventKind.STEP and other.scaler == event.scaler:
                if update is None or other.subject == event.subject:
                    break
                return Disorder("early update", update, event)
    return None
