"""The command `scan`: inputs, a job, results, and a summary of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from precision_lint.cli import console
from precision_lint.engine.settings import Settings
from precision_lint.model.frozen import frozen
from precision_lint.scan.inputs import BadInput, Input, open_input
from precision_lint.scan.job import Job, JobFailed
from precision_lint.scan.outcome import Collector, Limits, Outcome
from precision_lint.scan.results import BadOutput, Results
from precision_lint.scan.sources import sources

PROBLEMS = (BadInput, BadOutput, JobFailed)
"""Why a scan cannot be done; the message of each says it."""

_PAUSE = 10.0
"""Seconds between two lines that say how far it is."""


@frozen(slots=False)
class Request:
    """The options of the command."""

    inputs: tuple[str, ...]
    output: Path
    repositories: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    address: str | None = None
    tasks: int | None = None
    retry: bool = False
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def of(
        cls, inputs: tuple[str, ...], repositories: Path | None, options: Mapping[str, Any]
    ) -> tuple[Request, dict[str, Any]]:
        """The request that options of the command line make, and the other options."""
        others = dict(options)
        limits = Limits(
            others.pop("timeout"),
            others.pop("memory"),
            others.pop("max_file_size"),
            others.pop("max_repository_size"),
            others.pop("part_size"),
        )
        own = {name: others.pop(name) for name in ("output", "columns", "address", "retry")}
        tasks = others.pop("jobs")
        return cls(inputs, repositories=repositories, tasks=tasks, limits=limits, **own), others


def scan(request: Request, settings: Settings) -> None:
    """Check every repository that is not done yet, and print what is known of all of them.

    Raises:
        BadInput, BadOutput, JobFailed: it cannot be done; the message says why.
    """
    given = open_input(request.inputs, request.columns) if request.inputs else None
    listed = _listed(request.repositories) if request.repositories else []
    output = Path(request.output).absolute()
    with Results.open(output, settings, retry=request.retry) as results:
        done = results.done()
        names = {name for name, _ in done}
        todo = [source for source in listed if source not in names]
        if done:
            console.note(f"{_repositories(len(done))} done before")
        if given is None and not todo:
            console.note("nothing to scan")
        else:
            job = Job(settings, request.limits, request.tasks)
            with job.running(request.address):
                _keep(_outcomes(job, given, done, todo), results)
        results.flush()
        for line in summary(results.rows(SUMMARIZED)):
            console.say(line)
    console.note(f"results are in {output}")


def _listed(path: Path) -> list[str]:
    try:
        text = path.read_text("utf-8")
    except UnicodeError as problem:
        raise BadInput(f"{path}: not text in UTF-8") from problem
    return sources(text, path.absolute().parent)


def _outcomes(
    job: Job, given: Input | None, done: set[tuple[str, str | None]], todo: Sequence[str]
) -> Iterator[Outcome]:
    if given is not None:
        yield from job.of_parquet(given, done)
    if todo:
        yield from job.of_sources(todo)


def _keep(outcomes: Iterable[Outcome], results: Results) -> None:
    """Write what comes in, and say from time to time how much it is."""
    collector, count, findings = Collector(), 0, 0
    said = time.monotonic()
    for part in outcomes:
        outcome = collector.add(part)
        if outcome is None:
            continue
        results.add(outcome)
        count, findings = count + 1, findings + len(outcome.records)
        if time.monotonic() - said > _PAUSE:
            said = time.monotonic()
            console.note(f"{_repositories(count)} checked, {findings:,} findings")


SUMMARIZED = ["status", "files", "bytes", "cpu_seconds", "findings", "rules"]
"""The columns that the summary reads."""


def summary(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """What is known of all repositories, as lines for a person."""
    statuses: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    totals = dict.fromkeys(("files", "bytes", "findings", "cpu_seconds"), 0.0)
    for row in rows:
        statuses[str(row["status"])] += 1
        rules.update(dict(_pairs(row["rules"])))
        for name in totals:
            value = row[name]
            totals[name] += value if isinstance(value, int | float) else 0
    count = sum(statuses.values())
    yield (
        f"{_repositories(count)}, {totals['files']:,.0f} files, {totals['bytes'] / 1e6:,.1f} MB, "
        f"{totals['findings']:,.0f} findings, {totals['cpu_seconds']:,.1f} s of CPU"
    )
    yield from (f"{number:>9,}  {name}" for name, number in statuses.most_common())
    yield from (f"{number:>9,}  {name}" for name, number in rules.most_common())


def _repositories(count: int) -> str:
    return f"{count:,} repository" if count == 1 else f"{count:,} repositories"


def _pairs(value: object) -> Iterable[tuple[str, int]]:
    return value if isinstance(value, list) else []
