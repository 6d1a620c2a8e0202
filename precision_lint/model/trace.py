"""What is asked while something is worked out, so that the result can be checked later.

A question is a tuple: a name and its arguments. Whoever works something out collects what was asked
in the meantime. What is worked out once and shared keeps its questions, and repeats them for
everybody who uses it: else only the first one would depend on them.

What is asked of the disk itself is also kept for the whole process with its answers. As long as all
of these are the same, so is everything that follows from them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")

Question: TypeAlias = "tuple[Any, ...]"
Asked: TypeAlias = "dict[Question, None]"
"""Questions in the order in which they were asked first."""

_asked: ContextVar[Asked | None] = ContextVar("asked", default=None)
_seen: dict[Question, object] | None = None


def note(question: Question) -> None:
    """A question was asked."""
    asked = _asked.get()
    if asked is not None:
        asked[question] = None


def repeat(questions: Iterable[Question]) -> None:
    """Something is used for which these questions were asked before."""
    asked = _asked.get()
    if asked is not None:
        asked.update(dict.fromkeys(questions))


@contextmanager
def collected() -> Iterator[Asked]:
    """Collects what is asked in this block."""
    outer = _asked.get()
    asked: Asked = {}
    token = _asked.set(asked)
    try:
        yield asked
    finally:
        _asked.reset(token)
        if outer is not None:
            outer.update(asked)


def traced(compute: Callable[[], T]) -> tuple[T, tuple[Question, ...]]:
    """A result, and what was asked for it; nothing is known of that if nobody collects."""
    if _asked.get() is None:
        return compute(), ()
    with collected() as asked:
        found = compute()
    return found, tuple(asked)


def apart(compute: Callable[[], T]) -> T:
    """The answer to a question; what it asks itself does not count as asked by the caller."""
    if _asked.get() is None:
        return compute()
    token = _asked.set({})
    try:
        return compute()
    finally:
        _asked.reset(token)


class Kept(Generic[T]):
    """Results by their keys, each worked out once, with the questions of each."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[T, tuple[Question, ...]]] = {}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result with this key."""
        known = self._known.get(key)
        if known is None:
            found, asked = traced(compute)
            self._known[key] = found, asked
            return found
        repeat(known[1])
        return known[0]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._known)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def drop(self, key: Hashable) -> None:
        """Forget a result."""
        del self._known[key]


# The disk


def watch() -> None:
    """From now on, keep what is asked of the disk."""
    global _seen
    _seen = {}


def is_watching() -> bool:
    """True if what is asked of the disk is kept."""
    return _seen is not None


def saw(question: Question, answer: object) -> None:
    """The disk gave an answer. The first one counts: a run supposes that nothing changes."""
    note(question)
    if _seen is not None:
        _seen.setdefault(question, answer)


def taken() -> dict[Question, object]:
    """What the disk was asked since this was called before; nothing if nobody watches."""
    global _seen
    seen = _seen
    if seen is None:
        return {}
    _seen = {}
    return seen


def unwatch() -> None:
    """Keep nothing more."""
    global _seen
    _seen = None
