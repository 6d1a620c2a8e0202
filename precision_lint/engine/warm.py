"""What a process that stays keeps between two checks: the facts of the projects.

The text of an open document changes with every keystroke, the other files seldom. What they say is
kept as long as their names, sizes and times are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from precision_lint.engine.job import Job
from precision_lint.engine.session import Session
from precision_lint.engine.settings import Settings
from precision_lint.project import disk, pins
from precision_lint.project.disk import Stamp
from precision_lint.project.files import Project

_MOST = 2
"""Projects that are kept; each takes about as much memory as a run."""

_TRUSTED = 5.0
"""Seconds after which the files are looked at again: 0.15 s in a project of 2,500 files."""


@dataclass
class _Kept:
    """A job, the state of the files that its facts are from, and when that was looked at."""

    job: Job
    state: Mapping[Path, Stamp | None]
    checked: float


class WarmJobs:
    """Jobs with facts that are kept while the files of the project stay the same."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: list[_Kept] = []
        self._clock = clock

    def job(self, session: Session) -> Job:
        """A job that fixes nothing, with the facts of an earlier one if they hold."""
        kept = self._find(session)
        if kept is None:
            job = replace(session.job(), fix=None)
            kept = _Kept(job, state_of(session.project), self._clock())
            self._kept = [kept, *self._kept[: _MOST - 1]]
        return kept.job.naming(session.paths)

    def look_again(self) -> None:
        """A file was written: the next job looks at the files, however fresh its facts are."""
        for kept in self._kept:
            kept.checked = -_TRUSTED

    def _find(self, session: Session) -> _Kept | None:
        for kept in self._kept:
            if _is_same(kept.job, session.project, session.settings):
                now = self._clock()
                if now - kept.checked < _TRUSTED:
                    return kept
                if kept.state == state_of(session.project):
                    kept.checked = now
                    return kept
                self._kept.remove(kept)
                return None
        return None


def _is_same(job: Job, project: Project, settings: Settings) -> bool:
    return job.project == project and job.settings == settings


def state_of(project: Project) -> Mapping[Path, Stamp | None]:
    """The state of the files now, and of those with pins: a project remembers its own list."""
    patterns = (*pins.FILES, *pins.DECLARATIONS, *pins.ENVIRONMENTS, *pins.DOCUMENTS)
    side = {path for pattern in patterns for path in disk.matching(project.root, pattern)}
    now = replace(project)
    return {path: disk.stamp(path) for path in (*now.files, *now.pages, *side)}
