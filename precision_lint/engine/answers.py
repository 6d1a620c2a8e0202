"""What was answered in an earlier run, and which of the answers are still the same.

A change on the disk concerns few questions: only those are asked again.
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.engine.failures import is_interrupt
from precision_lint.engine.world import Changes, World
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.facts.project.questions import (
    FOUND_BY_NAME,
    OF_CONTENT,
    OF_NAMES,
    OF_THE_RUN,
    asked,
    name_of,
    records_of,
)


class Answers:
    """The answers of an earlier run by their questions, as they are now."""

    def __init__(
        self, facts: ProjectFacts, known: dict[str, str], world: World, changes: Changes
    ) -> None:
        """`known` are the digests of the answers in a world that differs by some changes."""
        self._facts = facts
        self._known = known
        self._world = world
        self._changes = changes
        self._now: dict[str, str | None] = {}
        self._same: dict[str, bool] = {}

    def now(self, line: str) -> str | None:
        """A digest of the answer as it is now; None if there is no telling."""
        if line not in self._now:
            self._now[line] = self._asked_again(line)
        return self._now[line]

    def all(self) -> Iterator[tuple[str, str]]:
        """The questions whose answers are known now, with the digests."""
        for line, digest in self._known.items():
            if self._now.get(line) is None and self._is_as_it_was(line):
                yield line, digest
        yield from ((line, digest) for line, digest in self._now.items() if digest)

    def _asked_again(self, line: str) -> str | None:
        known = self._known.get(line)
        if known is not None and self._is_as_it_was(line):
            return known
        try:
            return self._facts.dependency(asked(line)).digest
        except Exception as error:  # then the file is linted, and says what is wrong
            if is_interrupt(error):
                raise KeyboardInterrupt from error
            return None

    def _is_as_it_was(self, line: str) -> bool:
        """True if no change on the disk can change the answer to a question."""
        name = name_of(line)
        if name in OF_THE_RUN:
            return False
        if name in OF_NAMES:
            return not self._changes.of_names
        if name in OF_CONTENT:
            path = str(asked(line)[1])
            return path in self._world.reads and path not in self._changes.paths
        if not self._changes:
            return True
        records = records_of(asked(line))
        if self._changes.of_files or records is None:
            return False
        if self._changes.of_names and FOUND_BY_NAME.intersection(records):
            return False
        return all(self._has_same_records(key) for key in records)

    def _has_same_records(self, key: str) -> bool:
        """True if the changed files have the same records of a kind as before."""
        if key not in self._same:
            is_same = self._facts.records.is_same
            self._same[key] = all(is_same(key, path) for path in self._changes.paths)
        return self._same[key]
