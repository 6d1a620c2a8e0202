"""Which files are reached from others, over what leads from each to the next.

Files are numbers here: the hash of a path is computed by Python code, and a search looks at each
way between two files of a project.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

MOST_LINKED = 2_000
"""Files; a search ends where it has found as many."""


class Numbers:
    """A number for each file."""

    def __init__(self) -> None:
        self._known: dict[Path, int] = {}
        self.paths: list[Path] = []

    def of(self, path: Path) -> int:
        """The number of a file."""
        number = self._known.get(path)
        if number is None:
            number = self._known[path] = len(self.paths)
            self.paths.append(path)
        return number


class Reaching:
    """What is reached in one direction: `following` gives the next files of each, in order."""

    def __init__(self, numbers: Numbers, following: Callable[[Path], Iterable[Path]]) -> None:
        self._numbers = numbers
        self._following = following
        self._next: dict[int, tuple[int, ...]] = {}

    def __call__(self, start: Iterable[int]) -> set[int]:
        """The files that are reached from some, themselves included; in path order, if too many."""
        paths = self._numbers.paths
        found = set(start)
        pending = sorted(found, key=lambda number: paths[number].parts)
        while pending and len(found) < MOST_LINKED:
            new = [number for number in self._after(pending.pop()) if number not in found]
            found.update(new)
            pending += new
        return found

    def _after(self, number: int) -> tuple[int, ...]:
        if number not in self._next:
            following = self._following(self._numbers.paths[number])
            self._next[number] = tuple(map(self._numbers.of, following))
        return self._next[number]
