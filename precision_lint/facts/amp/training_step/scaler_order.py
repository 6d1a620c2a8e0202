"""Calls of `unscale_`, `step` and `update` of a scaler in a wrong order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from precision_lint.facts.amp.training_step.events import Event, EventKind
from precision_lint.facts.amp.training_step.graph import Repeat
from precision_lint.facts.amp.training_step.protocol import TrainingStep
from precision_lint.facts.amp.training_step.states import BOOKED, Entry, State, varies
from precision_lint.facts.context import PythonFile
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import Loop, own_statements

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


@frozen
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
    if not step.solution.is_exact or step.heir is not None:
        return  # a way that is wrong may be none; a base class is judged in its own file
    reported: set[tuple[str, str]] = set()
    for event in step.events:
        if event.kind not in BOOKED:
            continue
        found = _twice(event, step) or _in_next_pass(event, step, file) or _early(event, step)
        if found is not None and (event.scaler, event.subject) not in reported:
            reported.add((event.scaler, event.subject))
            yield found


# In one pass


def _twice(event: Event, step: TrainingStep) -> Disorder | None:
    """The event follows another that the scaler has recorded and not yet forgotten."""
    entries = [entry for entry in _entries(event, step) if entry.crossed is None]
    found = [entry for entry in entries if _is_error(entry, event)]
    if not found or _is_reported_inside(found[0].event, event):
        return None
    first = found[0].event
    is_cleared = any(entry.is_cleared and entry.event.node is first.node for entry in entries)
    if is_cleared and all(entry.event.node is first.node for entry in found):
        return None  # the update is there, and only seems to be passed by
    error = _ERRORS[first.kind, event.kind]
    return Disorder("twice", event, first, error, not found[0].is_branched)


def _entries(event: Event, step: TrainingStep) -> list[Entry]:
    """What the scaler may have recorded for the optimizer where an event happens."""
    found = (state.entry(event) for state in step.states(event))
    return [entry for entry in found if entry is not None]


def _is_error(entry: Entry, event: Event) -> bool:
    return not entry.is_cleared and (entry.event.kind, event.kind) in _ERRORS


def _is_reported_inside(one: Event, other: Event) -> bool:
    """True if both happen in one call of a helper, which is a step of its own."""
    return one.call is not None and one.call is other.call


# From one pass to the next


def _in_next_pass(event: Event, step: TrainingStep, file: PythonFile) -> Disorder | None:
    """The event follows what the scaler has recorded in an earlier pass of a loop."""
    changing = {
        action.loop: action.changing
        for action in step.solution.graph.actions
        if isinstance(action, Repeat)
    }
    for state in step.states(event):
        entry = state.entry(event)
        if entry is None or entry.crossed is None or not _is_error(entry, event):
            continue
        loop = entry.crossed
        if entry.crossed not in _loops(step) or any(
            varies(text, changing[loop])
            for each in step.states(event)
            for text, _ in each.conditions
        ):
            continue  # of a helper, or not in every pass
        error = _ERRORS[entry.event.kind, event.kind]
        updates = [
            each
            for each in step.events
            if (each.kind, each.scaler) == (EventKind.UPDATE, event.scaler)
        ]
        inside = set(walk(loop))
        within = [each for each in updates if each.node in inside or each.call in inside]
        if any(_are_in_own_loop(event, update) for update in within):
            continue
        for update in within:
            if any(_is_alike(state, other) for other in step.states(update)):
                return Disorder("update in some passes", event, update, error)
        if within or any(each.kind is EventKind.UNKNOWN for each in step.events):
            continue
        if updates:
            return Disorder("update elsewhere", event, updates[0], error)
        if entry.event.kind is EventKind.STEP and not _may_be_updated(event.scaler, file):
            steps = {
                id(each.node)
                for each in step.events
                if (each.kind, each.scaler) == (EventKind.STEP, event.scaler)
                and each.node in inside
            }
            error = _ERRORS[EventKind.STEP, EventKind.STEP]
            return Disorder("no update", entry.event, None, error, is_only_step=len(steps) == 1)
    return None


def _are_in_own_loop(one: Event, other: Event) -> bool:
    """True if a loop of a helper holds both, which is reported there."""
    return _is_reported_inside(one, other) and any(
        {one.node, other.node} <= set(walk(node))
        for node in one.file.nodes
        if isinstance(node, Loop)
    )


def _loops(step: TrainingStep) -> set[Loop]:
    """The loops of the step itself."""
    return {node for node in own_statements(step.body) if isinstance(node, Loop)}


def _is_alike(one: State, other: State) -> bool:
    """True unless the two states are of runs in which different conditions hold throughout."""
    known = dict(one.conditions)
    return all(known.get(text, value) is value for text, value in other.conditions)


def _may_be_updated(scaler: str, file: PythonFile) -> bool:
    """True if the scaler is updated elsewhere, or may be."""
    last = scaler.rpartition(".")[2]
    is_updated = re.search(rf"\b{re.escape(last)}\.update\(", file.text.text) is not None
    return is_updated or scaler.startswith("self.")


# Several optimizers


def _early(event: Event, step: TrainingStep) -> Disorder | None:
    """The step of a second optimizer after an update, the backward of both before it."""
    if event.kind is not EventKind.STEP:
        return None
    for state in step.states(event):
        before = [each for each in state.stepped if each.scaler == event.scaler]
        if state.early is None or state.early.scaler != event.scaler:
            continue
        if _is_reported_inside(state.early, event):
            continue
        if event.subject not in [each.subject for each in before]:
            return Disorder("early update", state.early, event)
    return None
