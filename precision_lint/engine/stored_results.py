"""How results of files are stored: each with what it is the result of, and its trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from precision_lint.facts.project.questions import Dependency
from precision_lint.model.frozen import frozen


@frozen(slots=False)
class Entry:
    """The result of one file, and what it is the result of."""

    digest: str
    codes: str
    is_named: bool
    is_triggered: bool
    """Right whether or not the file is named on the command line."""
    asks: bool
    is_current: bool
    """Right for the world that is stored with it: the answers need not be compared."""
    has_text: bool = False
    findings: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def plain(self) -> list[Any]:
        flags = (self.is_named, self.is_triggered, self.asks, self.is_current, self.has_text)
        return [self.digest, self.codes, "".join("01"[flag] for flag in flags), *self._said()]

    def _said(self) -> list[Any]:
        return [self.findings, self.notes] if self.findings or self.notes else []

    @classmethod
    def of(cls, stored: Any) -> Entry:
        digest, codes, flags, *said = stored
        return cls(digest, codes, *(flag == "1" for flag in flags), *said)


class Traces:
    """The questions behind each result, with the digests of their answers then."""

    def __init__(self, stored: Any = None) -> None:
        pairs, known, traces = stored or ((), (), {})
        self._pairs = [Dependency(question, digest) for question, digest in pairs]
        current = (self._pairs[index] for index in known)
        self.known: dict[str, str] = {each.question: each.digest for each in current}
        """The answers in the world that is stored."""
        self._traces: dict[str, Sequence[int]] = dict(traces)

    def of(self, path: str) -> list[Dependency] | None:
        """What a result depends on; None if that is not known."""
        trace = self._traces.get(path)
        return None if trace is None else [self._pairs[index] for index in trace]


class Writing:
    """Traces to be stored: each dependency once."""

    def __init__(self) -> None:
        self._indices: dict[Dependency, int] = {}
        self._traces: dict[str, list[int]] = {}

    def add(self, path: str, trace: Iterable[Dependency]) -> None:
        self._traces[path] = [self._index(each) for each in trace]

    def plain(self, known: Mapping[str, str]) -> list[Any]:
        current = [self._index(Dependency(*row)) for row in known.items()]
        return [[*self._indices], current, self._traces]

    def _index(self, dependency: Dependency) -> int:
        return self._indices.setdefault(dependency, len(self._indices))
