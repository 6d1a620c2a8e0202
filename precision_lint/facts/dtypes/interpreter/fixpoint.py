"""Table entries that may need each other: recursion is solved where it occurs.

An entry that is needed while it is being computed is assumed to be bottom. What was computed from
an assumption is provisional: once the outermost of these entries is complete, assumptions and
results are compared, and the entries are computed again from better assumptions until both agree.
All other entries are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Generic, TypeVar

_ITERATIONS = 4
"""How often entries that need each other are computed at most.

Assumptions rise from one iteration to the next where the functions of values keep the order.
Nothing bounds the height of the lattice, so the last iteration assumes top.
"""

V = TypeVar("V")


class FixpointTable(Generic[V]):
    """Entries by key, with assumptions for those that are being computed."""

    def __init__(self, bottom: V, top: V, is_late: Callable[[], bool]) -> None:
        """`is_late` says that no further iteration can be afforded: top is assumed at once."""
        self.bottom = bottom
        self.top = top
        self.is_late = is_late
        self._complete: dict[Hashable, V] = {}
        self._depths: dict[Hashable, int] = {}
        """The depth of the entries that are being computed."""
        self._lowest = _NONE
        """The lowest depth of what was assumed since the innermost entry began."""
        self._provisional: dict[Hashable, int] = {}
        """The complete entries that depend on an assumption, and the lowest depth of one."""
        self._assumed: dict[Hashable, V] = {}
        self._results: dict[Hashable, V] = {}
        """What the entries that were assumed turned out to be in this iteration."""
        self._is_last = False
        self._undo: list[Callable[[], object]] = []

    def __contains__(self, key: Hashable) -> bool:
        """True for an entry that is known or being computed."""
        return key in self._complete or key in self._depths

    def is_in_progress(self, key: Hashable) -> bool:
        return key in self._depths

    def note(self, undo: Callable[[], object]) -> None:
        """Something was recorded that must be undone if the entries in progress begin again."""
        if self._depths:
            self._undo.append(undo)

    @contextmanager
    def recording(self, undo: Callable[[], object]) -> Iterator[None]:
        """Something is recorded in this block: undo it if an entry begins again that it assumed.

        What was worked out without any assumption is the same the next time, and so is what was
        noted on the way.
        """
        outer, self._lowest = self._lowest, _NONE
        noted = len(self._undo)
        try:
            yield
        finally:
            if self._lowest == _NONE:
                del self._undo[noted:]
            else:
                self._undo.append(undo)
            self._lowest = min(outer, self._lowest)

    def entry(self, key: Hashable, compute: Callable[[], V]) -> V:
        """The entry of a key, computed when it is first needed."""
        if key in self._complete:
            self._lowest = min(self._lowest, self._provisional.get(key, _NONE))
            return self._complete[key]
        if key in self._depths:
            return self._assumption(key)
        outer, self._lowest = self._lowest, _NONE
        depth = self._depths[key] = len(self._depths)
        recorded, known = len(self._undo), len(self._assumed)
        is_last = self._is_last
        try:
            value = self._computed(key, compute)
            for iteration in range(1, _ITERATIONS):
                if self._lowest < depth or not self._is_contradicted(known):
                    break
                self._begin_again(recorded, known)
                self._is_last |= iteration == _ITERATIONS - 1 or self.is_late()
                value = self._computed(key, compute)
                self._is_last = is_last
        except BaseException:  # what was complete without it stays so
            self._begin_again(recorded, known)
            self._forget_assumptions(known)
            self._is_last, self._lowest = is_last, outer
            raise
        finally:
            del self._depths[key]
            if not self._depths:
                self._undo.clear()
        self._complete[key] = value
        if self._lowest < depth:
            # What was computed from this entry's assumption is as provisional as the entry.
            for dependent in [one for one, low in self._provisional.items() if low >= depth]:
                self._provisional[dependent] = self._lowest
            self._provisional[key] = self._lowest
            self.note(lambda: self.forget(key))
            self._lowest = min(outer, self._lowest)
        else:
            self._forget_assumptions(known)
            for settled in [one for one, low in self._provisional.items() if low >= depth]:
                del self._provisional[settled]
            del self._undo[recorded:]
            self._lowest = outer
        return value

    def forget(self, key: Hashable) -> None:
        """Compute an entry again when it is needed next."""
        self._complete.pop(key, None)
        self._provisional.pop(key, None)

    def _computed(self, key: Hashable, compute: Callable[[], V]) -> V:
        value = compute()
        if key in self._assumed:
            self._results[key] = value
        return value

    def _assumption(self, key: Hashable) -> V:
        self._lowest = min(self._lowest, self._depths[key])
        if key not in self._assumed or self._is_last:
            self._assumed[key] = self.top if self._is_last or self.is_late() else self.bottom
        return self._assumed[key]

    def _is_contradicted(self, known: int) -> bool:
        """True if an entry is not what was assumed; top holds for whatever it is."""
        return any(
            assumed not in (self._results.get(key, assumed), self.top)
            for key, assumed in islice(self._assumed.items(), known, None)
        )

    def _forget_assumptions(self, known: int) -> None:
        for assumed in list(self._assumed)[known:]:
            del self._assumed[assumed]
            self._results.pop(assumed, None)

    def _begin_again(self, recorded: int, known: int) -> None:
        while len(self._undo) > recorded:
            self._undo.pop()()
        for key in list(self._assumed)[known:]:
            self._assumed[key] = self._results.pop(key, self._assumed[key])


_NONE = 1 << 30
