"""The state machine of the protocol: what the gradients, the scaler and the optimizers are in.

A state is what one or more ways through a step have in common: the gradients (scaled, unscaled …),
what each scaler has recorded for each optimizer since its last `update`, and the conditions that
were found to hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field, replace
from enum import Enum, auto

from precision_lint.facts.amp.training_step.conditions import assuming, mentions, truth, without
from precision_lint.facts.amp.training_step.events import Event, EventKind
from precision_lint.facts.amp.training_step.graph import Action, Assume, Forget, Repeat
from precision_lint.model.frozen import frozen
from precision_lint.source.python.statements import Loop


class Gradients(Enum):
    """What the gradients are."""

    UNTOUCHED = auto()  # as they were when the step began
    SCALED = auto()
    PLAIN = auto()  # of a loss that nothing has scaled
    UNSCALED = auto()
    STEPPED = auto()  # a scaler's step has unscaled and used them
    UPDATED = auto()  # used up: the scaler is updated
    UNKNOWN = auto()


BOOKED = frozenset({EventKind.UNSCALE, EventKind.STEP})
"""What a scaler records for an optimizer, and forgets at `update`."""


@frozen
class Entry:
    """The last event that a scaler has recorded for an optimizer."""

    event: Event
    is_cleared: bool = False
    """True if an `update` has made the scaler forget it."""

    is_branched: bool = False
    """True if a condition was tested since."""

    crossed: Loop | None = None
    """The first loop whose next pass has begun since."""

    @property
    def key(self) -> tuple[str, str]:
        return self.event.scaler, self.event.subject


@frozen
class State:
    """Where the protocol is at a node."""

    gradients: Gradients = Gradients.UNTOUCHED
    made: Event | None = None
    """The backward that has made them, where they are scaled or plain."""

    measured: frozenset[Event] = frozenset()
    """The clipping and the norms of these gradients."""

    stepped: frozenset[Event] = frozenset()
    """The steps of scalers since the last backward."""

    early: Event | None = None
    """The first `update` after one of these steps."""

    book: frozenset[Entry] = frozenset()
    conditions: frozenset[tuple[str, bool]] = field(default_factory=frozenset)

    def entry(self, event: Event) -> Entry | None:
        """What the scaler has recorded for the optimizer of an event."""
        key = event.scaler, event.subject
        return next((entry for entry in self.book if entry.key == key), None)

    def after(self, action: Action, tracked: frozenset[str] | None) -> State | None:
        """The state behind an action; None if its condition cannot hold in this one.

        Conditions are kept if they are `tracked`; None: all of them.
        """
        match action:
            case Event():
                return _happened(self, action)
            case Assume(test=test, holds=holds):
                return _assumed(self, test, holds, tracked)
            case Forget(names=names):
                return _forgotten(self, names)
            case Repeat(loop=loop, changing=changing):
                return _repeated(_forgotten(self, changing), loop, changing)
        return self


# Events


def _happened(state: State, event: Event) -> State:
    match event.kind:
        case EventKind.SCALED_BACKWARD:
            return _made(state, Gradients.SCALED, event)
        case EventKind.BACKWARD:
            mixed = state.gradients in {Gradients.SCALED, Gradients.UNSCALED, Gradients.UNKNOWN}
            return _made(state, Gradients.UNKNOWN if mixed else Gradients.PLAIN, event)
        case EventKind.UNKNOWN:
            return replace(_made(state, Gradients.UNKNOWN, None), book=frozenset())
        case EventKind.CLIP | EventKind.NORM:
            return replace(state, measured=state.measured | {event})
        case EventKind.UNSCALE:
            return _booked(_used(state, Gradients.UNSCALED), event)
        case EventKind.STEP:
            before = frozenset[Event]() if state.early else state.stepped
            used = _used(state, Gradients.STEPPED)
            return _booked(replace(used, stepped=before | {event}, early=None), event)
        case EventKind.UPDATE:
            is_early = any(each.scaler == event.scaler for each in state.stepped)
            return replace(
                _used(state, Gradients.UPDATED),
                early=state.early or (event if is_early else None),
                book=frozenset(
                    replace(entry, is_cleared=True) if entry.event.scaler == event.scaler else entry
                    for entry in state.book
                ),
            )
        case EventKind.PLAIN_STEP:
            return state


def _used(state: State, gradients: Gradients) -> State:
    """The same gradients after the scaler has done something to them."""
    return replace(state, gradients=gradients, made=None, measured=frozenset())


def _made(state: State, gradients: Gradients, event: Event | None) -> State:
    """New gradients: nothing has been done with them."""
    return replace(
        state,
        gradients=gradients,
        made=event,
        measured=frozenset(),
        stepped=frozenset(),
        early=None,
    )


def _booked(state: State, event: Event) -> State:
    entry = Entry(event)
    return replace(
        state, book=frozenset(each for each in state.book if each.key != entry.key) | {entry}
    )


# Conditions, names and loops


def _assumed(
    state: State, test: ast.expr, holds: bool, tracked: frozenset[str] | None
) -> State | None:
    known = dict(state.conditions)
    value = truth(test, known)
    if value is not None:
        return state if value is holds else None
    further = assuming(test, holds, known).items()
    return replace(
        state,
        conditions=frozenset(
            (text, value) for text, value in further if tracked is None or text in tracked
        ),
        book=frozenset(replace(entry, is_branched=True) for entry in state.book),
    )


def _forgotten(state: State, names: frozenset[str]) -> State:
    """The state without what it says of names that have another value now."""
    return replace(
        state,
        stepped=_others(state.stepped, names),
        book=frozenset(each for each in state.book if not _concerns(each.event, names)),
        conditions=frozenset(without(names, dict(state.conditions)).items()),
    )


def _others(events: Iterable[Event], names: frozenset[str]) -> frozenset[Event]:
    return frozenset(event for event in events if not _concerns(event, names))


def _concerns(event: Event, names: frozenset[str]) -> bool:
    return mentions(event.subject, names) or mentions(event.scaler, names)


def _repeated(state: State, loop: Loop, changing: frozenset[str]) -> State:
    """The state in the next pass of a loop, in which other conditions can hold."""
    return replace(
        state,
        stepped=frozenset(),
        early=None,
        book=frozenset(
            replace(entry, crossed=loop) if entry.crossed is None else entry for entry in state.book
        ),
        conditions=frozenset(
            (text, value) for text, value in state.conditions if not varies(text, changing)
        ),
    )


def varies(text: str, changing: frozenset[str]) -> bool:
    """Whether a condition can be another one in the next pass of a loop."""
    return "%" in text or "(" in text or mentions(text, changing)
