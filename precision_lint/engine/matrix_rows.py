"""The rows of the matrix: entry points, launches, and files that a framework reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from precision_lint.engine.explain_config import runs_of
from precision_lint.engine.explained import Run
from precision_lint.engine.matrix_candidate import (
    Candidate,
    NotUnderstood,
    is_chosen,
    may_be,
    sinks_not_understood,
)
from precision_lint.engine.matrix_launches import launched, read_by_frameworks
from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.options.offers import Offers, offers_of
from precision_lint.facts.runs.written.entries import entry_points
from precision_lint.facts.runs.written.started import started_programs
from precision_lint.model.finding import Confidence, Span
from precision_lint.source.config.config_file import ParsedConfig

_Spot: TypeAlias = "tuple[Path, Span]"

_OF_PRECISION = (
    r"(?i:bf16|bfloat16|fp16|float16|fp8|float8|tf32|autocast|precision|\.half\(|dtype|\bamp\b"
    r"|HfArgumentParser|TrlParser)"
)
"""What a program mentions somewhere if it says anything of precision."""


def candidates(
    files: Sequence[Path], named: Iterable[Path], facts: Recording, least: Confidence
) -> list[Candidate]:
    """The rows of some files: entry points first, then launches and files, in order of place.

    The Python files of `named` are entry points, whatever they look like.
    """
    explanation = runs_of(files, facts, frozenset(), lambda _: None, least)
    readings = _by_spot(run for run in explanation.runs if run.path.suffix != ".py")
    unread = {(one.place.path, one.place.span): one.unread for one in explanation.unexplained}
    launches = _launches(files, readings, facts)
    entries = [*entry_points(files, facts), *(path for path in named if path.suffix == ".py")]
    known: dict[Path, Offers] = {}
    found: list[Candidate] = []
    for path in dict.fromkeys([*entries, *(path for _, _, path in launches.values())]):
        file = facts.config_files.at(path)
        if file is not None and facts.reaches(path, _OF_PRECISION):
            run = environment(path, file, None, facts)
            known[path] = offers_of(run)
            found.append(_entry(path, run, known[path]))
    for spot, (file, launch, path) in launches.items():
        read, left = readings.pop(spot, []), unread.get(spot, ())
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


def _launches(
    files: Iterable[Path], readings: Mapping[_Spot, list[Run]], facts: Recording
) -> dict[_Spot, tuple[ParsedConfig, Launch, Path]]:
    """The launches of programs of the project; what only tests it is left out.

    Those of `readings` may be in other files, which start what is in these.
    """
    found: dict[_Spot, tuple[ParsedConfig, Launch, Path]] = {}
    for path in dict.fromkeys([*files, *(path for path, _ in readings)]):
        if path.suffix == ".py" or facts.is_test(path):
            continue
        file = facts.config_files.at(path)
        if file is not None and (file.script is not None or file.embedded):
            for each, launch, program in started_programs(file, facts):
                if not facts.is_test(program):
                    found[each.text.path, launch.span] = each, launch, program
    return found


def _entry(path: Path, run: RunEnvironment, offers: Offers) -> Candidate:
    is_known = any(one.kind == "followed" and is_chosen(one) for one in offers.offers)
    unknown = [] if is_known else [one for one in offers.fixed if one.precision is None]
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
