"""What a task may use, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from enum import Enum
from typing import Any

from precision_lint.model.frozen import frozen
from precision_lint.report.json_report import dumps


class Status(str, Enum):
    """How the check of a repository ended; the worst comes last."""

    OK = "ok"
    FAILED = "failed"
    """A defect of the linter: some files could not be checked."""
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"
    TOO_LARGE = "too-large"
    UNREADABLE = "unreadable"
    """The repository could not be read, and was not checked."""


_BY_BADNESS = tuple(Status)


@frozen(slots=False)
class Limits:
    """What a task may use; sizes are bytes."""

    seconds: float = 600.0
    memory: int = 2 << 30
    file_size: int = 4 << 20
    """Larger files are left out: they are data."""
    repository_size: int = 512 << 20
    """Of larger repositories nothing is checked."""
    part_size: int = 32 << 20
    """A repository with more Python than this is checked in parts."""


@frozen(slots=False)
class Outcome:
    """A repository, or a part of it, after its check."""

    repository: str
    commit: str | None = None
    part: int = 1
    parts: int = 1
    status: Status = Status.OK
    message: str = ""
    files: int = 0
    size: int = 0
    skipped: int = 0
    """Files that were left out: too large, no text, or with names that are no paths."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory: int | None = None
    """Bytes, of the largest part; None if no process ran."""
    records: tuple[Mapping[str, Any], ...] = ()
    """The findings, as `--output-format json` writes them."""
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        """For the way from a task to the program that started it."""
        return dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        """What `to_json` wrote."""
        given = json.loads(text)
        given["status"] = Status(given["status"])
        given["records"], given["notes"] = tuple(given["records"]), tuple(given["notes"])
        return cls(**given)


def merged(parts: Iterable[Outcome]) -> Outcome:
    """All parts of a repository made one: its status is that of the worst part."""
    first, *others = sorted(parts, key=lambda outcome: outcome.part)
    if not others:
        return first
    every = [first, *others]
    worst = max(every, key=lambda outcome: _BY_BADNESS.index(outcome.status))
    peaks = [outcome.peak_memory for outcome in every if outcome.peak_memory is not None]
    bad = [outcome for outcome in every if outcome.status is not Status.OK]
    said = [
        f"part {each.part} of {each.parts}: {each.status.value}: {each.message}" for each in bad
    ]
    records = [record for outcome in every for record in outcome.records]
    return replace(
        first,
        part=1,
        status=worst.status,
        message="; ".join(said),
        seconds=sum(outcome.seconds for outcome in every),
        cpu_seconds=sum(outcome.cpu_seconds for outcome in every),
        peak_memory=max(peaks, default=None),
        records=tuple(sorted(records, key=lambda record: str(record["filename"]))),
        notes=tuple(dict.fromkeys(note for outcome in every for note in outcome.notes)),
    )


class Collector:
    """Parts that arrive in any order; each repository is given once, when it is complete."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str | None], dict[int, Outcome]] = {}

    def add(self, outcome: Outcome) -> Outcome | None:
        """The repository, if this was the last of its parts that was missing."""
        key = outcome.repository, outcome.commit
        known = self._waiting.setdefault(key, {})
        known[outcome.part] = outcome
        if len(known) < outcome.parts:
            return None
        return merged(self._waiting.pop(key).values())
