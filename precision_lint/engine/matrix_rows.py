"""The rows of the matrix: entry points, launches, and files that a framework reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from precision_lint.engine.explain_config import Run, runs_of
from precision_lint.engine.matrix_candidate import (
    Candidate,
    NotUnderstood,
    is_followed,
    may_be,
    sinks_not_understood,
)
from precision_lint.engine.matrix_launches import launched, read_by_frameworks
from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.entries import entry_points
from precision_lint.facts.runs.environment import RunEnvironment
from precision_lint.facts.runs.offers import Offers, offers_of
from precision_lint.facts.runs.started import started_programs
from precision_lint.model.finding import Confidence, Span
from precision_lint.source.config.config_file import ParsedConfig

_Spot: TypeAlias = "tuple[Path, Span]"

_OF_PRECISION = (
    r"(?i:bf16|bfloat16|fp16|float16|fp8|float8|tf32|autocast|precision|\.half\(|dtype|\bamp\b"
    r"|HfArgumentParser|TrlParser)"
)
"""What a program mentions somewhere if it says anything of precision."""


def candidates(files: Sequence[Path], facts: Recording, least: Confidence) -> list[Candidate]:
    """The rows of some files: entry points first, then launches and files, in order of place."""
    explanation = runs_of(files, facts, frozenset(), lambda _: None, least)
    configs = [run for run in explanation.runs if run.path.suffix != ".py"]
    readings = _by_spot(configs)
    unread = {(one.place.path, one.place.span): one.unread for one in explanation.unexplained}
    started = list(_started(files, facts))
    programs = dict.fromkeys([*entry_points(files, facts), *(one for _, _, one in started)])
    known: dict[Path, Offers] = {}
    found: list[Candidate] = []
    for path in programs:
        file = facts.config_files.at(path)
        if file is not None and facts.reaches(path, _OF_PRECISION):
            run = environment(path, file, None, facts)
            known[path] = offers_of(run)
            found.append(_entry(path, run, known[path]))
    for file, launch, path in started:
        spot = (file.text.path, launch.span)
        read, left = readings.pop(spot, []), unread.pop(spot, ())
        found.append(launched(file, launch, path, known.get(path), read, left, facts))
    found += [read_by_frameworks(runs, facts) for runs in readings.values()]
    return sorted(found, key=_order)


def _order(one: Candidate) -> tuple[bool, str, Span]:
    return one.kind != "entry point", str(one.place.path), one.place.span


def _by_spot(runs: Iterable[Run]) -> dict[_Spot, list[Run]]:
    """The runs of one place together; a section of a file belongs to the file around it."""
    found: dict[_Spot, list[Run]] = {}
    ordered = sorted(runs, key=lambda one: (str(one.path), _start(one), -_end(one)))
    for run in ordered:
        spot = (run.path, run.explained.place.span)
        if not run.explained.program:
            for path, span in found:
                if path == run.path and span.start <= _start(run) and _end(run) <= span.end:
                    spot = (path, span)
                    break
        found.setdefault(spot, []).append(run)
    return found


def _start(run: Run) -> int:
    return run.explained.place.span.start


def _end(run: Run) -> int:
    return run.explained.place.span.end


def _started(
    files: Iterable[Path], facts: Recording
) -> Iterator[tuple[ParsedConfig, Launch, Path]]:
    """The launches of programs of the project; what only tests it is left out."""
    for path in files:
        if path.suffix == ".py" or facts.is_test(path):
            continue
        file = facts.config_files.at(path)
        if file is not None and (file.script is not None or file.embedded):
            for each, launch, program in started_programs(file, facts):
                if not facts.is_test(program):
                    yield each, launch, program


def _entry(path: Path, run: RunEnvironment, offers: Offers) -> Candidate:
    unknown = (
        [] if is_followed(offers.offers) else [one for one in offers.fixed if one.precision is None]
    )
    return Candidate(
        "entry point",
        run.file.text.place(Span(0, 0)),
        is_whole=True,
        program=path,
        offers=offers.offers,
        open=may_be(unknown),
        unread=(*_not_followed(offers), *sinks_not_understood(unknown)),
        environment=run,
    )


def _not_followed(offers: Offers) -> Iterator[NotUnderstood]:
    """The options whose values name precisions that go nowhere: `--dtype fp16, bf16`."""
    left = [one for one in offers.offers if one.kind == "not followed"]
    for setting in dict.fromkeys(one.setting for one in left):
        named = [one for one in left if one.setting == setting]
        values = ", ".join(str(one.value) for one in named if one.value is not True)
        yield NotUnderstood(f"{setting} {values}".rstrip(), named[0].place)
