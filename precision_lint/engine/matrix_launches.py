"""The rows of the matrix that are launches, or files that a framework reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from precision_lint.engine.explained import Run, place_of, source_of
from precision_lint.engine.matrix_candidate import (
    USUAL,
    Candidate,
    Key,
    NotUnderstood,
    is_chosen,
    is_followed,
    may_be,
    sinks_not_understood,
)
from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.precision import Chosen, chosen, precisions_of
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.frameworks.sources import Occurrence, RolesSource
from precision_lint.facts.frameworks.verdicts import shown, verdicts_of
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.options.offers import Offer, Offers, launched_sinks
from precision_lint.facts.runs.options.offers import precisions_of as precisions_of_sinks
from precision_lint.facts.runs.written.domains import domains
from precision_lint.model.finding import Place, Span
from precision_lint.model.precision import LOW, Precision, precision_of, switched_by
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option
from precision_lint.source.config.settings_tree import Member, Scalar


def launched(
    file: ParsedConfig,
    launch: Launch,
    path: Path,
    known: Offers | None,
    runs: Sequence[Run],
    left: Sequence[Occurrence],
    facts: Recording,
) -> Candidate:
    """The row of a launch of a program of the project, of which `known` is what it offers.

    `runs` are what frameworks read there, `left` what nothing is known to read.
    """
    run = environment(path, file, launch, facts)
    by_frameworks = [one for one in runs if not _is_of_program(one)]
    read = [one.explained.reading for one in by_frameworks]
    verdicts = _verdicts(runs)
    unread = [*(one for each in runs for one in each.unread), *left]
    offers = list(_offers(run, known, read, unread, file.text.place(launch.span)))
    is_known = any(one.kind == "followed" and is_chosen(one) for one in offers)
    fixed = known.fixed if known is not None and not is_known else ()
    unknown = [one for one in fixed if one.precision is None]
    unset = [] if is_followed(offers) else list(_unknown_settings(read))
    words = list(_unknown_words(run, known)) if known is not None else []
    left_over = [
        *_not_understood(unread, offers),
        *unset,
        *words,
        *(() if words else _not_followed(offers)),
        *sinks_not_understood(unknown),
    ]
    return Candidate(
        "launch",
        file.text.place(launch.span),
        is_whole=False,
        program=path,
        started=launch.program,
        frameworks=_names(by_frameworks),
        offers=tuple(offers),
        open=may_be(unknown) | (USUAL if unset else frozenset()),
        unread=tuple({_row(one.place): one for one in reversed(left_over)}.values())[::-1],
        verdicts=verdicts,
        refused=_refused(read, verdicts, facts),
        files=_files(file.text.path, read),
        environment=run,
    )


def _row(place: Place) -> tuple[Path, int]:
    return place.path, place.start.row


def _not_followed(offers: Iterable[Offer]) -> Iterator[NotUnderstood]:
    """The options of a program that go nowhere, with the values that a launch leaves to them."""
    for one in offers:
        if one.kind == "not followed" and one.option and one.is_default:
            yield NotUnderstood(f"{one.setting} {one.value}", one.place)


def read_by_frameworks(runs: Sequence[Run], facts: Recording) -> Candidate:
    """The row of a launch of another package's program, or of a file."""
    first = runs[0].explained
    read = [one.explained.reading for one in runs]
    verdicts = _verdicts(runs)
    offers = tuple(_of_readings(read))
    unread = [one for each in runs for one in each.unread]
    unset = [] if is_followed(offers) else list(_unknown_settings(read))
    return Candidate(
        "launch" if first.program else "file",
        first.place,
        first.is_whole,
        None,
        first.program,
        _names(runs),
        offers,
        USUAL if unset else frozenset(),
        (*_not_understood(unread, offers), *unset),
        verdicts,
        _refused(read, verdicts, facts),
        _files(first.place.path, read),
    )


def _offers(
    run: RunEnvironment,
    known: Offers | None,
    read: Sequence[EffectiveConfig],
    unread: Sequence[Occurrence],
    place: Place,
) -> Iterator[Offer]:
    """What a launch makes of the precisions that its program offers.

    The sinks that options decide count first, then what frameworks read, then names.
    """
    own = list(_of_program(run, known, place)) if known is not None and known.decisive else []
    if not own:
        own = list(_of_readings(read)) or list(_by_name(unread))
    if not own and known is not None:
        # Under a launcher, its configuration on the machine may say something else.
        is_closed = run.launch is not None and not run.launch.launcher
        own = [one for one in known.offers if not one.setting or (one.is_default and is_closed)]
    yield from own


def _of_program(run: RunEnvironment, known: Offers, place: Place) -> Iterator[Offer]:
    """What the sinks come to that the options of the program decide."""
    found = launched_sinks(run, known)
    precisions = precisions_of_sinks(found)
    if not precisions:
        is_unknown = next(_unknown_words(run, known), None) is not None
        for one in known.offers:  # `"$@"` may be any of its options
            yield replace(one, kind="not followed") if is_unknown else one
        return
    words = [
        option.written
        for domain in domains(run.program)
        if run.given(domain.name) is not None
        if (option := run.option(domain.name)) is not None and option.written is not None
    ]
    why = next((one.refused for one in found if one.refused), "")
    for precision in precisions:
        named = [one for one in words if _named(one) == precision] or words
        text = ", ".join(dict.fromkeys(map(source_of, named)))
        at = place_of(named[0]) if named else place
        kind = "refused" if why else "followed"
        yield Offer(precision, kind, at, text, is_default=not named, why=why)  # type: ignore[arg-type]


def _unknown_words(run: RunEnvironment, known: Offers) -> Iterator[NotUnderstood]:
    """The decisive options of a launch of which only run time knows the value."""
    for name in sorted({one.option for one in known.offers if one.kind == "followed"}):
        option = run.given(name)
        if option is not None and run.option(name) is None:
            text = run.file.text
            source = " ".join(text[word.span] for word in option.words)
            yield NotUnderstood(source, text.place(option.span))


def _named(written: Occurrence) -> Precision | None:
    """The precision that a setting names."""
    if written.value is True:
        return switched_by(written.name)
    return precision_of(written.value)


def _by_name(unread: Iterable[Occurrence]) -> Iterator[Offer]:
    """Settings that name a precision, and that nothing is known to read."""
    for one in unread:
        precision = _named(one)
        if precision is not None:
            yield Offer(precision, "not followed", place_of(one), source_of(one))


def _not_understood(
    unread: Iterable[Occurrence], offers: Sequence[Offer]
) -> Iterator[NotUnderstood]:
    """What is not understood, but for the options that are followed into the program."""
    followed = {one.place for one in offers if one.kind == "followed"}
    for one in unread:
        if place_of(one) not in followed:
            yield NotUnderstood(_text(one), place_of(one))


# Frameworks


def _of_readings(read: Sequence[EffectiveConfig]) -> Iterator[Offer]:
    """What frameworks make of the settings of one run, of which few bits count first."""
    each = [(one, precisions_of(one)) for one in read]
    low = frozenset(one for _, found in each for one in found) & LOW
    for reading, found in each:
        for precision in found:
            if low and precision not in low:
                continue
            settings = [one for one in chosen(reading) if one.precision == precision]
            first = next((one for one in settings if one.written is not None), None)
            if first is not None and first.written is not None:
                at, text = place_of(first.written), _setting(first, first.written)
                if first.written.file.python is None:
                    yield Offer(precision, "followed", at, text)
                else:
                    yield Offer(precision, "followed", at, why=text)
            else:
                place = reading.file.text.place(reading.source.span)
                yield Offer(precision, "followed", place, is_default=True)


def _unknown_settings(read: Sequence[EffectiveConfig]) -> Iterator[NotUnderstood]:
    """The settings of precision of which only run time knows the value, each once."""
    found = {
        place_of(one.written): NotUnderstood(source_of(one.written), place_of(one.written))
        for reading in read
        for one in chosen(reading)
        if one.precision is None and one.written is not None and one.part != "matmul"
    }
    yield from found.values()


def _setting(one: Chosen, written: Occurrence) -> str:
    """A setting with its whole name: `bf16.enabled: true`."""
    if isinstance(written.origin, Option):
        return source_of(written)
    return f"{one.key}: {shown(written.value)}"


def _text(written: Occurrence) -> str:
    match written.origin:
        case Member(entry=entry) if entry.name and isinstance(entry.value, Scalar):
            return f"{written.name}: {shown(written.value)}"
    return source_of(written)


def _is_of_program(run: Run) -> bool:
    """True for what a program of one's own makes of its settings: its sinks say that."""
    return isinstance(run.explained.reading.source, RolesSource)


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.explained.reading.framework.name for one in runs))


def _verdicts(runs: Sequence[Run]) -> frozenset[Key]:
    return frozenset(one.sort_key for each in runs for one in each.findings)


def _refused(
    read: Sequence[EffectiveConfig], verdicts: frozenset[Key], facts: Recording
) -> frozenset[tuple[Path, Span, str]]:
    """The conflicts that raise."""
    return frozenset(
        (place.path, place.span, verdict.message())
        for one in read
        for verdict in (verdicts_of(one, facts) if verdicts else ())
        if verdict.conflict.verdict == "error"
        for place in (verdict.file.text.place(verdict.place.origin.span),)
    )


def _files(path: Path, read: Sequence[EffectiveConfig]) -> frozenset[Path]:
    return frozenset({path}).union(*(part.paths for one in read for part in one.parts))
