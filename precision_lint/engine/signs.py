"""Which pitfalls a text may be about by what it says, in whatever words.

A message says what is wrong, and names operators, libraries, devices, arguments and dtypes. Each
of these is a concept that messages express in many ways. The signs of a pitfall are sets of
concepts: a message that no page quotes is led to the pitfall whose sign explains most of it. The
frames of its traceback say what it is about where the message itself does not.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from precision_lint.engine.pitfalls import (
    concepts_of_faults,
    concepts_of_subjects,
    other_subjects,
    pitfalls,
    signs,
    words_of_precision,
)
from precision_lint.engine.wording import named_dtypes
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex

_ANY_DTYPE = regex(r"(?<![\\\w])D(?!\w)")
_ABSENT = "!"
_OF_FRAMES = 0.5
"""How much it counts that a frame names a subject, and not the message."""
_OF_NO_FAULT = 0.5
"""How much a row counts that does not say what is wrong, such as one of code."""
_USUAL = frozenset({"float16", "bfloat16", "float32"})
"""Most messages name these: a sign need not."""
_DOUBT = 1.0
"""Added to the weight of all that a message says: one concept alone says little."""


@frozen
class _Sign:
    """Concepts that a message about a pitfall has, and those that it does not have."""

    pitfall: str
    present: frozenset[str]
    absent: frozenset[str]


def by_signs(message: str, frames: str = "") -> dict[str, float]:
    """The pitfalls whose signs a message has, with how much of what it says they explain."""
    said = concepts(message)
    named = subjects(frames) - said if frames else frozenset()
    weights = _weights()
    everything = sum(weights[concept] for concept in said - _USUAL)
    best: dict[str, float] = {}
    for sign in _signs():
        if sign.present <= said | named and sign.present & said and not sign.absent & said:
            explained = sum(
                weights[concept] * (1.0 if concept in said else _OF_FRAMES)
                for concept in sign.present
            )
            framed = sum(weights[concept] * _OF_FRAMES for concept in sign.present & named)
            usual = sum(weights[concept] for concept in sign.present & _USUAL)
            share = explained / (everything + framed + usual + _DOUBT)
            share *= 1.0 if said & _faults().keys() else _OF_NO_FAULT
            best[sign.pitfall] = max(best.get(sign.pitfall, 0.0), share)
    return best


def is_about_precision(message: str) -> bool:
    """Whether a message has a word of precision."""
    return _precision().search(message.lower()) is not None


def other_subject(message: str) -> str | None:
    """What a message is about that is not precision; None if nothing says so."""
    return next(iter(sorted(_found(_others(), message))), None)


def concepts(message: str) -> frozenset[str]:
    """What a message says is wrong, and what it is about."""
    return _found({**_faults(), **_subjects()}, message)


def subjects(frames: str) -> frozenset[str]:
    """What the frames of a traceback are about."""
    return _found(_subjects(), frames)


def _found(patterns: Mapping[str, re.Pattern[str]], text: str) -> frozenset[str]:
    plain = named_dtypes(text).lower()
    return frozenset(name for name, pattern in patterns.items() if pattern.search(plain))


@cache
def _faults() -> Mapping[str, re.Pattern[str]]:
    return {name: _any_of(patterns) for name, patterns in concepts_of_faults().items()}


@cache
def _subjects() -> Mapping[str, re.Pattern[str]]:
    return {name: _any_of(patterns) for name, patterns in concepts_of_subjects().items()}


@cache
def _precision() -> re.Pattern[str]:
    return _any_of(words_of_precision())


@cache
def _others() -> Mapping[str, re.Pattern[str]]:
    return {name: _any_of(patterns) for name, patterns in other_subjects().items()}


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """One pattern; `D` is any dtype."""
    return re.compile("|".join(_ANY_DTYPE.sub(r"dtype_\\w+", one) for one in patterns))


@cache
def _signs() -> Sequence[_Sign]:
    return [
        _Sign(
            name,
            frozenset(one for one in row.split() if not one.startswith(_ABSENT)),
            frozenset(one[1:] for one in row.split() if one.startswith(_ABSENT)),
        )
        for name, rows in signs().items()
        for row in rows
    ]


@cache
def _weights() -> Mapping[str, float]:
    """What few known messages say has more weight."""
    known = [message for one in pitfalls().values() for message in (*one.messages, *one.unlisted)]
    count = Counter(concept for message in known for concept in concepts(message))
    every = (*_faults(), *_subjects())
    return {name: math.log(1 + len(known) / (1 + count[name])) for name in every}
