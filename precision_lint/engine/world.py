"""What the disk said while results were worked out, and what is different now.

Everything that a result depends on was read from the disk, or asked of it. As long as all of that
is the same, so is every answer, and nothing needs to be asked again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.facts.project.questions import ANSWERS, asked, digest_of_answer, written
from precision_lint.model.frozen import frozen
from precision_lint.model.trace import Question
from precision_lint.project import disk
from precision_lint.project.contents import digest_of
from precision_lint.project.disk import Stamp

_JUST_NOW = 2_000_000_000
"""Nanoseconds in which a file may be written twice and have the same time."""
_MOST_SIGHTS = 200_000


class Unknown(ValueError):
    """What was stored is not what is stored."""


@frozen(slots=False)
class Read:
    """A file that was read. `stamp` is None if there was none, `digest` if nobody worked it out.

    A file that had just been written then may have been written again at the same time.
    """

    stamp: Stamp | None
    digest: str | None = None
    is_young: bool = False


@frozen(slots=False)
class World:
    """What was read, what else was asked of the disk, and which files the project had."""

    files: str = ""
    reads: Mapping[str, Read] = field(default_factory=dict)
    sights: Mapping[str, str] = field(default_factory=dict)

    def plain(self) -> list[Any]:
        """The same as lists, to be stored."""
        reads = [
            [path, read.stamp, read.digest, int(read.is_young)] for path, read in self.reads.items()
        ]
        return [self.files, reads, [*self.sights.items()]]

    @classmethod
    def of(cls, stored: Any) -> World:
        """The world that was stored.

        Raises:
            TypeError, ValueError: it is none.
        """
        files, reads, sights = stored
        return cls(
            str(files),
            {
                str(path): Read(Stamp(*stamp) if stamp else None, digest, bool(is_young))
                for path, stamp, digest, is_young in reads
            },
            {str(question): str(digest) for question, digest in sights},
        )


@frozen(slots=False)
class Changes:
    """What is not as it was."""

    paths: frozenset[str] = frozenset()
    """The files with another content, or that are there now, or no longer."""
    of_names: bool = False
    """The disk gives other names than it did."""
    of_files: bool = False
    """The project has other files than it had."""

    def __bool__(self) -> bool:
        return bool(self.paths) or self.of_names


class Watch:
    """The disk in this run: its files when the run started, and what was asked of it since."""

    def __init__(self, facts: ProjectFacts, paths: Iterable[Path]) -> None:
        self._facts = facts
        self._started = time.time_ns()
        own = (*facts.project.files, *facts.project.pages)
        self._stamps: dict[Path, Stamp | None] = {path: disk.stamp(path) for path in {*own, *paths}}
        self._sights: dict[Question, object] = {}
        self._first: dict[str, str] = {}
        self._files = digest_of("\0".join(map(str, own)).encode("utf-8", "replace"))

    def changes(self, world: World) -> Changes:
        """How the disk differs from what it was; files with known digests are not read again."""
        self._facts.contents.trust(
            {
                path: (read.stamp, read.digest)
                for path, read in world.reads.items()
                if read.stamp is not None and read.digest is not None and not read.is_young
            }
        )
        self._first = {question: self._sight(question) for question in world.sights}
        known = {str(path): path for path in self._stamps}
        paths = frozenset(
            name
            for name, read in world.reads.items()
            if self._is_changed(path := known.get(name) or Path(name), read, self._stamp(path))
        )
        is_other = world.files != self._files
        return Changes(paths, is_other or world.sights != self._first, is_other)

    def saw(self, sights: Mapping[Question, object]) -> None:
        """What was asked of the disk, here or in a worker."""
        for question, answer in sights.items():
            if question[0] == "read":
                assert answer is None or isinstance(answer, Stamp)
                self._stamps.setdefault(question[1], answer)
            else:
                self._sights.setdefault(question, answer)

    def world(self, before: World) -> World | None:
        """What was seen in this run and in those before; None if it changed in the meantime."""
        sights = {
            written(question): digest_of_answer(answer) for question, answer in self._sights.items()
        }
        sights.update(self._first)
        if (
            len(sights) > _MOST_SIGHTS
            or any(disk.stamp(path) != stamp for path, stamp in self._stamps.items())
            or any(self._sight(question) != digest for question, digest in sights.items())
        ):
            return None
        known = dict(self._facts.contents.worked_out())
        reads = {
            str(path): self._as_read(path, stamp, known.get(path), before.reads.get(str(path)))
            for path, stamp in self._stamps.items()
        }
        return World(self._files, reads, sights)

    def _as_read(
        self, path: Path, stamp: Stamp | None, digest: str | None, before: Read | None
    ) -> Read:
        if stamp is None:
            return Read(None)
        is_young = stamp.modified > self._started - _JUST_NOW
        if digest is None and is_young:
            digest = self._facts.contents.digest(path)
        if digest is None and before is not None and before.stamp == stamp:
            return before
        return Read(stamp, digest, is_young)

    def _stamp(self, path: Path) -> Stamp | None:
        if path not in self._stamps:
            self._stamps[path] = disk.stamp(path)
        return self._stamps[path]

    def _is_changed(self, path: Path, read: Read, now: Stamp | None) -> bool:
        if now == read.stamp and not read.is_young:
            return False
        if now is None or read.digest is None:
            return now != read.stamp or read.stamp is not None
        return self._facts.contents.digest(path) != read.digest

    def _sight(self, line: str) -> str:
        """What the disk says now.

        Raises:
            ValueError: that is no question to the disk.
        """
        name, *arguments = asked(line)
        return digest_of_answer(ANSWERS[name](self._facts, *arguments))
