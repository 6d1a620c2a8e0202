"""Which results of earlier runs are still right, so that these files need not be linted again.

A result is right for the same bytes of the file, as long as every question that was asked of the
project while it was linted has the same answer. If nothing changed on the disk, they have. If
something did, the questions are asked again that it can concern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from precision_lint.engine import stored_findings
from precision_lint.engine.answers import Answers
from precision_lint.engine.check import decode
from precision_lint.engine.job import Job, Result
from precision_lint.engine.store import StoreFile, Unreadable
from precision_lint.engine.store_key import store_key
from precision_lint.engine.stored_results import Entry, Traces, Writing
from precision_lint.engine.world import Changes, Watch, World
from precision_lint.facts.project.questions import Dependency
from precision_lint.model.trace import Question
from precision_lint.project import disk
from precision_lint.project.contents import digest_of
from precision_lint.project.discovery import kind_of
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

_DAMAGED = (TypeError, ValueError, KeyError, IndexError, AttributeError)


class Reuse:
    """The results of earlier runs over a project, for one run."""

    def __init__(self, file: StoreFile, job: Job, paths: Sequence[Path]) -> None:
        self._file = file
        self._job = job
        self._facts = job.facts
        self._watch = Watch(job.facts, paths)
        self._run = digest_of(
            "\0".join(sorted(map(str, job.project.reported or ()))).encode("utf-8", "replace")
        )
        self._world, self._former_run = World(), ""
        self._entries: dict[str, Entry] = {}
        self._changes = Changes()
        self._traces: Traces | None = None
        self._codes: dict[frozenset[str], str] = {}
        self._right: set[str] = set()
        self._new: dict[str, tuple[Dependency, ...]] = {}
        self._load()

    @classmethod
    def open(cls, folder: Path, job: Job, paths: Sequence[Path], *, is_long: bool) -> Reuse | None:
        """The results for a project; None if there are none, and the run is too short for some."""
        key = store_key(job.project.root, job.project.exclude, job.settings)
        file = StoreFile(folder / f"{key}.store")
        return cls(file, job, paths) if is_long or file.exists() else None

    def _load(self) -> None:
        try:
            world, run, entries = self._file.section("results")
            self._entries = {path: Entry.of(entry) for path, entry in entries.items()}
            self._world, self._former_run = World.of(world), run
            self._changes = self._watch.changes(self._world)
            if self._changes:
                self._trust_records()
        except (Unreadable, *_DAMAGED):
            self._world, self._former_run, self._entries = World(), "", {}
            self._changes = Changes(of_names=True, of_files=True)

    def _trust_records(self) -> None:
        paths, *stored = self._file.section("records")
        names = dict(enumerate(paths))
        self._facts.records.trust(
            {key: {names[index]: said for index, said in rows} for key, rows in stored},
            self._changes.paths,
        )
        if not (self._changes.of_names or self._changes.of_files):
            self._facts.imports.trust(self._file.section("imports"), self._changes.paths)

    def _plain_records(self) -> list[Any]:
        """The records, with a number for each path."""
        numbers: dict[str, int] = {}
        stored = [
            [key, [[numbers.setdefault(path, len(numbers)), said] for path, said in found.items()]]
            for key, found in self._facts.records.all()
        ]
        return [[*numbers], *stored]

    def results(self, paths: Iterable[Path]) -> Iterator[Result]:
        """The results that are right."""
        for path in paths:
            result = self._result(path)
            if result is not None:
                yield result

    def keep(self, result: Result) -> None:
        """A file was linted."""
        self._watch.saw(result.sights)
        self._facts.records.add(result.records)
        if result.digest is not None:
            self._facts.contents.add(result.path, result.digest)
        self._entries.pop(str(result.path), None)
        if result.digest is None or result.trace is None or result.failure is not None:
            return
        # What is left after a fix is no result of what is on the disk.
        if self._job.fix is not None and (result.findings or result.notes or result.fixed):
            return
        path = str(result.path)
        self._entries[path] = Entry(
            result.digest,
            self._codes_of(result.path),
            result.path in self._job.named,
            result.is_triggered,
            bool(result.trace),
            True,
            result.text is not None,
            [stored_findings.plain(finding) for finding in result.findings],
            list(result.notes),
        )
        self._new[path] = result.trace

    def saw(self, sights: Mapping[Question, object]) -> None:
        """What was asked of the disk, here or in a worker."""
        self._watch.saw(sights)

    def save(self) -> None:
        """Store the results, unless nothing is new.

        What a hook checks is a few files of a project: that the results of all others were worked
        out for another run is not worth a store of its own.
        """
        is_another_run = self._run != self._former_run and 2 * len(self._right) > len(self._entries)
        if not (self._new or self._changes or is_another_run):
            return
        try:
            if not self._changes:
                self._trust_records()
        except (Unreadable, *_DAMAGED):
            return
        world = self._watch.world(self._world)
        if world is None:
            return
        traces = self._stored_traces()
        known = dict(self._answers.all())
        writing = Writing()
        entries = {}
        is_same = not self._changes and self._run == self._former_run
        for path, entry in self._entries.items():
            if path not in world.reads or world.reads[path].stamp is None:
                continue
            trace = self._new[path] if path in self._new else traces.of(path)
            if entry.asks and trace is None:
                continue
            is_current = path in self._right or path in self._new or not entry.asks
            is_current = is_current or (is_same and entry.is_current)
            entries[path] = replace(entry, is_current=is_current)
            if entry.asks:
                writing.add(path, trace or ())
                if path in self._new:
                    known.update(trace or ())
        run = self._run
        self._file.write(
            {
                "results": [world.plain(), run, {p: e.plain() for p, e in entries.items()}],
                "traces": writing.plain(known),
                "records": self._plain_records(),
                "imports": self._facts.imports.plain(),
            }
        )

    def _result(self, path: Path) -> Result | None:
        entry = self._entries.get(str(path))
        if (
            entry is None
            or (entry.is_named != (path in self._job.named) and not entry.is_triggered)
            or entry.codes != self._codes_of(path)
            or entry.digest != self._facts.contents.digest(path)
            or (self._job.fix is not None and (entry.findings or entry.notes))
            or not self._is_right(str(path), entry)
        ):
            return None
        try:
            findings = tuple(map(stored_findings.finding, entry.findings))
            text = self._text(path, entry) if entry.has_text else None
        except (OSError, UnicodeError, Unparsable, *_DAMAGED):
            return None
        self._right.add(str(path))
        return Result(path, findings, tuple(entry.notes), text=text)

    def _text(self, path: Path, entry: Entry) -> SourceText:
        content = disk.read(path, disk.ANY_SIZE)
        kind = kind_of(path)
        if kind is None or digest_of(content) != entry.digest:
            raise ValueError(path)
        return decode(path, content, kind)

    def _is_right(self, path: str, entry: Entry) -> bool:
        if not entry.asks:
            return True
        if entry.is_current and not self._changes and self._run == self._former_run:
            return True
        trace = self._stored_traces().of(path)
        return trace is not None and all(
            self._answers.now(question) == digest for question, digest in trace
        )

    def _stored_traces(self) -> Traces:
        if self._traces is None:
            try:
                self._traces = Traces(self._file.section("traces"))
            except (Unreadable, *_DAMAGED):
                self._traces = Traces()
        return self._traces

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self._facts, self._stored_traces().known, self._world, self._changes)

    def _codes_of(self, path: Path) -> str:
        codes = self._job.settings.codes_for(path, self._job.project.root)
        if codes not in self._codes:
            self._codes[codes] = digest_of(" ".join(sorted(codes)).encode())
        return self._codes[codes]
