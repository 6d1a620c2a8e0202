"""The rows of the matrix: entry points, launches, and files that a framework reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from precision_lint.engine.explain_config import (
    Run,
    Unexplained,
    place_of,
    runs_of,
    source_of,
)
from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.precision import chosen, precisions_of
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.frameworks.verdicts import verdicts_of
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.domains import domains
from precision_lint.facts.runs.entries import entry_points
from precision_lint.facts.runs.environment import RunEnvironment
from precision_lint.facts.runs.offers import Offer, Offers, launched_sinks, offers_of
from precision_lint.facts.runs.offers import precisions_of as precisions_of_sinks
from precision_lint.facts.runs.sinks import Sink
from precision_lint.facts.runs.started import started_programs
from precision_lint.model.finding import Confidence, Place, Span
from precision_lint.model.precision import LOW, Precision, precision_of, switched_by
from precision_lint.source.config.config_file import ParsedConfig

Kind: TypeAlias = Literal["entry point", "launch", "file"]
_Key: TypeAlias = "tuple[str, Span, str, str]"
_Spot: TypeAlias = "tuple[Path, Span]"

_OF_PRECISION = (
    r"(?i:bf16|bfloat16|fp16|float16|fp8|float8|tf32|autocast|precision|\.half\(|dtype|\bamp\b|HfArgumentParser"
    r"|TrlParser)"
)
"""What a program mentions somewhere if it says anything of precision."""


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """Something that may decide a precision, and that is not followed."""

    text: str
    place: Place


@dataclass(frozen=True)
class Candidate:
    """One row before findings are put into it."""

    kind: Kind
    place: Place
    is_whole: bool
    """It is a file as a whole, so that its row need not be shown."""
    program: Path | None
    """The file of the project that is started, if it is one."""
    started: str = ""
    """The program as a launch calls it."""
    frameworks: tuple[str, ...] = ()
    """The names of the frameworks that read its settings."""
    offers: tuple[Offer, ...] = ()
    open: frozenset[Precision] = frozenset()
    """The precisions that it may offer as well, for all that is known."""
    unread: tuple[NotUnderstood, ...] = ()
    verdicts: frozenset[_Key] = frozenset()
    """The findings in its settings."""
    refused: frozenset[tuple[Path, Span, str]] = frozenset()
    """The places and messages of those after which it does not start."""
    files: frozenset[Path] = frozenset()
    """The files that its settings come from."""
    environment: RunEnvironment | None = None

    def values_of(self, option: str) -> tuple[object, ...] | None:
        """The values that an option has or can have; None if that is not known."""
        if self.environment is None:
            return None
        if self.kind == "launch":
            known = self.environment.option(option)
            return (known.value,) if known is not None else None
        declared = (each for each in domains(self.environment.program) if each.name == option)
        return next((tuple(each.values) for each in declared), None)


def candidates(files: Sequence[Path], facts: Recording, least: Confidence) -> list[Candidate]:
    """The rows of some files, in the order of their places."""
    explanation = runs_of(files, facts, frozenset(), lambda _: None, least)
    readings: dict[_Spot, list[Run]] = {}
    for run in explanation.runs:
        place = run.explained.place
        if place.path.suffix != ".py":
            readings.setdefault((place.path, place.span), []).append(run)
    unread = {(one.place.path, one.place.span): one for one in explanation.unexplained}
    made: dict[Path, tuple[RunEnvironment, Offers]] = {}
    found: dict[object, Candidate] = {}
    started = list(_started(files, facts))
    for path in dict.fromkeys([*entry_points(files, facts), *(one for _, _, one in started)]):
        file = facts.config_files.at(path)
        if file is not None and facts.reaches(path, _OF_PRECISION):
            run_of = environment(path, file, None, facts)
            made[path] = run_of, offers_of(run_of)
            found[path] = _entry(path, *made[path])
    for file, launch, path in started:
        spot = (file.text.path, launch.span)
        known = made.get(path)
        found[spot] = _launched(
            file, launch, path, known, readings.pop(spot, []), unread.pop(spot, None), facts
        )
    for runs in readings.values():
        found[id(runs)] = _read(runs, facts)
    return sorted(found.values(), key=_order)


def _order(one: Candidate) -> tuple[bool, str, Span]:
    return one.kind != "entry point", str(one.place.path), one.place.span


def _started(
    files: Iterable[Path], facts: Recording
) -> Iterator[tuple[ParsedConfig, Launch, Path]]:
    for path in files:
        if path.suffix != ".py":
            file = facts.config_files.at(path)
            if file is not None and (file.script is not None or file.embedded):
                yield from started_programs(file, facts)


# Entry points


def _entry(path: Path, run: RunEnvironment, offers: Offers) -> Candidate:
    unknown = (
        []
        if _is_followed(offers.offers)
        else [one for one in offers.fixed if one.precision is None]
    )
    not_followed = {
        one.setting: NotUnderstood(_values(one.setting, offers), one.place)
        for one in offers.offers
        if one.kind == "not followed" and one.setting
    }
    return Candidate(
        "entry point",
        run.file.text.place(Span(0, 0)),
        is_whole=True,
        program=path,
        offers=offers.offers,
        open=_open(unknown),
        unread=(*not_followed.values(), *_sinks(unknown)),
        environment=run,
    )


def _values(setting: str, offers: Offers) -> str:
    """`--dtype fp16, bf16`."""
    values = [
        str(one.value) for one in offers.offers if one.setting == setting and one.value is not True
    ]
    return " ".join([setting, ", ".join(values)]).rstrip()


def _open(unknown: Iterable[Sink]) -> frozenset[Precision]:
    """What unknown sinks may come to."""
    found: frozenset[Precision] = frozenset()
    for one in unknown:
        found |= {"tf32"} if one.part == "matmul" else LOW - {"fp8"} | {"fp32"}
    return found


def _sinks(found: Iterable[Sink]) -> Iterator[NotUnderstood]:
    yield from (NotUnderstood(one.shown, one.place) for one in found)


# Launches


def _launched(
    file: ParsedConfig,
    launch: Launch,
    path: Path,
    known: tuple[RunEnvironment, Offers] | None,
    runs: Sequence[Run],
    left: Unexplained | None,
    facts: Recording,
) -> Candidate:
    run = environment(path, file, launch, facts)
    read = [one.explained.reading for one in runs]
    offers = list(_of_program(run, known[1])) if known is not None else []
    unread = [
        *(one for each in runs for one in each.unread),
        *(left.unread if left is not None else ()),
    ]
    if known is None or not known[1].decisive or not _is_followed(offers):
        offers = [*_of_readings(read)] or offers
    if not offers:
        offers = list(_by_name(unread))
    fixed = known[1].fixed if known is not None else ()
    unknown = [one for one in fixed if one.precision is None and not offers]
    return Candidate(
        "launch",
        file.text.place(launch.span),
        is_whole=False,
        program=path,
        started=launch.program,
        frameworks=_names(runs),
        offers=tuple(offers),
        open=_open(unknown),
        unread=(*_occurrences(unread, offers), *_sinks(unknown)),
        verdicts=_verdicts(runs),
        refused=_refused(read, facts),
        files=_files(file.text.path, read),
        environment=run,
    )


def _of_program(run: RunEnvironment, offers: Offers) -> Iterator[Offer]:
    """What the program of a launch makes of its options."""
    if not offers.decisive:
        is_closed = run.launch is not None and not run.launch.launcher
        for one in offers.offers:
            if one.kind == "followed" and (not one.setting or (one.is_default and is_closed)):
                yield one
        return
    found = launched_sinks(run, offers)
    given = [
        known.written
        for domain in domains(run.program)
        if (known := run.option(domain.name)) is not None and known.written is not None
    ]
    words = [one for one in given if one.file is run.file]
    why = next((one.refused for one in found if one.refused), "")
    precisions = precisions_of_sinks(found)
    for precision in precisions:
        named = [one for one in words if _names_it(one, precision)] or words
        place = place_of(named[0]) if named else run.file.text.place(run.launch.span)  # type: ignore[union-attr]
        kind: Literal["followed", "refused"] = "refused" if why else "followed"
        text = ", ".join(dict.fromkeys(map(source_of, named)))
        yield Offer(precision, kind, place, text, is_default=not named, why=why)


def _is_followed(offers: Iterable[Offer]) -> bool:
    return any(one.kind == "followed" for one in offers)


def _names_it(written: Occurrence, precision: Precision) -> bool:
    named = precision_of(written.value) or (
        switched_by(written.name) if written.value is True else None
    )
    return named == precision


def _by_name(unread: Iterable[Occurrence]) -> Iterator[Offer]:
    """Settings that name a precision, and that nothing is known to read."""
    for one in unread:
        named = precision_of(one.value) or (switched_by(one.name) if one.value is True else None)
        if named is not None:
            yield Offer(named, "not followed", place_of(one), source_of(one))


def _occurrences(unread: Iterable[Occurrence], offers: Sequence[Offer]) -> Iterator[NotUnderstood]:
    """What is not understood, but for the options that are followed into the program."""
    followed = {one.place for one in offers if one.kind == "followed"}
    for one in unread:
        if place_of(one) not in followed:
            yield NotUnderstood(source_of(one), place_of(one))


# Frameworks


def _read(runs: Sequence[Run], facts: Recording) -> Candidate:
    """The row of a launch of another package's program, or of a file."""
    first = runs[0].explained
    read = [one.explained.reading for one in runs]
    offers = list(_of_readings(read))
    unread = [one for each in runs for one in each.unread]
    is_known = any(precisions_of(one) for one in read)
    is_said = any(one.precision is None for each in read for one in chosen(each))
    return Candidate(
        "launch" if first.program else "file",
        first.place,
        first.is_whole,
        None,
        first.program,
        _names(runs),
        tuple(offers),
        LOW | {"fp32"} if is_said and not is_known else frozenset(),
        tuple(_occurrences(unread, offers)),
        _verdicts(runs),
        _refused(read, facts),
        _files(first.place.path, read),
    )


def _of_readings(read: Sequence[EffectiveConfig]) -> Iterator[Offer]:
    """What the frameworks make of the settings of one run, whose half precisions count first."""
    each = {id(one): precisions_of(one) for one in read}
    low = frozenset(one for found in each.values() for one in found) & LOW
    for reading in read:
        for precision in each[id(reading)]:
            if low and precision not in low:
                continue
            settings = [one for one in chosen(reading) if one.precision == precision]
            written = [one.written for one in settings if one.written is not None]
            if written:
                yield Offer(precision, "followed", place_of(written[0]), source_of(written[0]))
            elif settings or precision == "fp32":
                place = reading.file.text.place(reading.source.span)
                yield Offer(precision, "followed", place, is_default=True)


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.explained.reading.framework.name for one in runs))


def _verdicts(runs: Sequence[Run]) -> frozenset[_Key]:
    return frozenset(one.sort_key for each in runs for one in each.findings)


def _refused(
    read: Sequence[EffectiveConfig], facts: Recording
) -> frozenset[tuple[Path, Span, str]]:
    """The conflicts that raise."""
    return frozenset(
        (place.path, place.span, verdict.message())
        for one in read
        for verdict in verdicts_of(one, facts)
        if verdict.conflict.verdict == "error"
        for place in (verdict.file.text.place(verdict.place.origin.span),)
    )


def _files(path: Path, read: Sequence[EffectiveConfig]) -> frozenset[Path]:
    return frozenset({path}).union(*(part.paths for one in read for part in one.parts))
