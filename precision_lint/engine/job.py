"""What is done with every file of a run, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path

from precision_lint.engine.settings import Settings
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.facts.project.questions import Dependency
from precision_lint.facts.project.records import Record
from precision_lint.model.finding import Applicability, Finding
from precision_lint.model.frozen import frozen
from precision_lint.model.trace import Question
from precision_lint.project.files import Project
from precision_lint.source.text.text import SourceText


@frozen(slots=False)
class Job:
    """What is done with every file."""

    project: Project
    settings: Settings
    fix: Applicability | None = None
    write: bool = True
    ignore: str | None = None
    """The reason of the suppressions that are written in place of fixes; None for fixes."""

    named: frozenset[Path] = frozenset()
    """Files that were named on the command line: parsed even if their bytes hold no trigger."""

    is_traced: bool = False
    """What is asked while a file is linted is kept with the result."""

    @cached_property
    def own_files(self) -> frozenset[Path]:
        """The files of the project: everybody knows how they were when the run started."""
        return frozenset(self.project.files)

    @cached_property
    def facts(self) -> ProjectFacts:
        """What the project says: read once for all the files of the job."""
        return ProjectFacts(self.project)

    def naming(self, paths: Iterable[Path]) -> Job:
        """The same job, with the facts that it has, for other files that were named."""
        job = replace(self, named=frozenset(paths))
        vars(job)["facts"] = self.facts
        return job


@frozen(slots=False)
class Result:
    """One file after the run: what is left, what was fixed, and the texts that reports show."""

    path: Path
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    fixed: tuple[Finding, ...] = ()
    text: SourceText | None = None
    before: SourceText | None = None
    """The text that was read, if fixes changed it."""
    failure: str | None = None
    """Why the tool could not do its job on this file."""
    is_triggered: bool = True
    """What is found does not depend on whether the file was named on the command line."""
    digest: str | None = None
    """Of the bytes that were read."""
    trace: tuple[Dependency, ...] | None = None
    """What was asked of the project, with digests of the answers; None if nobody kept that."""
    records: list[Record] = field(default_factory=list)
    """What was kept of files since the file before."""
    sights: Mapping[Question, object] = field(default_factory=dict)
    """What was asked of the disk since the file before."""
