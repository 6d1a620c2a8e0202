"""Which framework reads a configuration, the resulting precision, and the origin of each value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from collections.abc import Mapping as Table
from dataclasses import field, replace
from pathlib import Path

from precision_lint.engine.configuration_files import (
    CannotExplain,
    known_frameworks,
    lines_of,
    nothing_read,
    problem_at,
    read,
)
from precision_lint.engine.explained import (
    Explained,
    Explanation,
    Run,
    Unexplained,
    explained_run,
)
from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import found_by_end, program_of
from precision_lint.facts.frameworks.runs import runs
from precision_lint.facts.frameworks.sources import (
    CallSource,
    MappingSource,
    RolesSource,
    launch_of,
)
from precision_lint.facts.project.facts import ProjectFacts, Recording
from precision_lint.facts.runs.in_vain.cut_commands import cut_by_return
from precision_lint.facts.runs.in_vain.given_anyway import given_anyway
from precision_lint.facts.runs.in_vain.named_in_vain import named_in_vain
from precision_lint.facts.runs.in_vain.never_asked import never_asked
from precision_lint.facts.runs.in_vain.never_named import naming_of
from precision_lint.facts.runs.in_vain.other_readers import is_for_another
from precision_lint.facts.runs.in_vain.reasons import with_reasons
from precision_lint.facts.runs.options.untaken_options import untaken
from precision_lint.facts.runs.readers.composing_programs import choice_of
from precision_lint.facts.runs.readers.takers import word_of
from precision_lint.facts.runs.roles.declared_options import meant
from precision_lint.facts.runs.roles.notebooks import of_notebook
from precision_lint.facts.runs.roles.purposes import Purposes, of_torch, read_as_well
from precision_lint.facts.runs.roles.roles import distinct, with_keys
from precision_lint.facts.runs.roles.shown import as_shown
from precision_lint.facts.runs.roles.words_in_vain import words_in_vain
from precision_lint.facts.runs.written.copies import in_copies
from precision_lint.facts.runs.written.loading import FORMATS
from precision_lint.facts.runs.written.records import is_record
from precision_lint.facts.runs.written.understood import understood, written_at
from precision_lint.facts.runs.written.unread import Unread, unread
from precision_lint.facts.settings.vocabulary import mentions_precision
from precision_lint.model.finding import Confidence, Finding, Place, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.project.discovery import holds_commands, is_copy, is_of_unread_format, kind_of
from precision_lint.project.files import Project
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.shell.words import UNKNOWN


def explained_runs(
    files: Sequence[Path],
    project: Project,
    named: Iterable[Path],
    note: Callable[[str], None],
    least: Confidence = Confidence.MEDIUM,
    pages: Sequence[Path] = (),
) -> Explanation:
    """The runs that files take part in, in order of place, with those that commands of pages start;
    `note` reports what is left out.

    Runs that set no precision are left out, unless a file of `named` takes part in them. Findings
    with less confidence than `least` are left out, as they are from other reports.

    Raises:
        CannotExplain: a file of `named` cannot be read or parsed.
    """
    facts = ProjectFacts(project).recording()
    return runs_of(files, facts, frozenset(named), note, least, pages)


_MOST_PAGES = 40
_STARTING = regex(rb"\.py\b|\bpython3?[ \t]+-m\b")
"""What a page holds that may start a program of the project."""


def pages_of(session_files: Iterable[Path], project: Project) -> list[Path]:
    """The pages of a project whose commands may start its programs with a precision, the nearest to
    its root first.
    """
    known = frozenset(session_files)
    found = [
        path
        for path in project.pages
        if path not in known and kind_of(path) == "markdown" and not is_copy(path)
    ]
    found.sort(key=lambda path: (len(path.parts), str(path)))
    return [path for path in found[: 4 * _MOST_PAGES] if _may_start(path)][:_MOST_PAGES]


def _may_start(path: Path) -> bool:
    try:
        content = disk.read(path, disk.LARGEST_CONFIG)
    except OSError:
        return False
    return mentions_precision(content) and _STARTING.search(content) is not None


@frozen(slots=False)
class _Seen:
    """What files say before anybody asks what programs do with it.

    `launched` are the settings that are not understood, once for each launch; `also` those that a
    program may have for more than its framework, and `aside` those in copies. `asked` are named
    files with runs.
    """

    found: dict[object, EffectiveConfig] = field(default_factory=dict)
    left: dict[tuple[Path, Span], Unread] = field(default_factory=dict)
    launched: list[Unread] = field(default_factory=list)
    also: list[Unread] = field(default_factory=list)
    aside: dict[tuple[Path, Span], Unread] = field(default_factory=dict)
    asked: set[Path] = field(default_factory=set)


def _see_page(path: Path, facts: Recording, seen: _Seen) -> None:
    """What the commands of a page say that start programs of the project; its other texts are read
    if it is named.
    """
    try:
        file = read(path, facts, is_named=False)
    except CannotExplain:
        return
    if file is None:
        return

    def starts(launch: Launch | None, part: ParsedConfig) -> bool:
        return launch is not None and program_of(launch, part, facts) is not None

    own = [run for run in runs(file, facts) if starts(launch_of(run.source), run.file)]
    seen.found.update({identity(run): run for run in own})
    for one in unread(file, [as_shown(run, facts) for run in own]):
        if starts(one.launch, one.file):
            seen.left[path, one.span] = one
            seen.launched.append(one)


def _seen_in(
    files: Iterable[Path],
    pages: Iterable[Path],
    facts: Recording,
    named: frozenset[Path],
    note: Callable[[str], None],
) -> _Seen:
    seen = _Seen()
    for path in pages:
        _see_page(path, facts, seen)
    for path in files:
        is_unread = is_of_unread_format(path)
        if is_unread and path in named:
            note(f"{path}: the keys of `{path.suffix}` files are not read")
        if is_unread or (path not in named and (kind_of(path) is None or holds_commands(path))):
            seen.left.update({(path, one.span): one for one in lines_of(path)})
            continue
        try:
            file = read(path, facts, is_named=path in named)
        except CannotExplain as problem:
            if path in named:
                raise
            note(str(problem))
            seen.left.update({(path, one.span): one for one in lines_of(path)})
            continue
        if file is None:
            continue
        own = () if path not in named and is_copy(path) else _runs_in(file, facts)
        if file.defect is not None and (own or path in named):
            note(f"{problem_at(path, file.defect)}; only the readable part is explained")
        if not own and (is_copy(path) or is_record(file, facts)):
            rest = [*in_copies(file, facts)]
            seen.aside.update({(path, one.span): one for one in rest})
        else:
            rest = [*unread(file, [as_shown(run, facts) for run in own])]
            seen.left.update({(path, one.span): one for one in rest})
            seen.launched.extend(rest)  # one command may be several launches
        seen.also.extend(read_as_well(file, own, facts))
        if not own and not rest and path in named:
            note(f"{path}: {nothing_read(file)}")
        for run in own:
            seen.found[identity(run)] = run
            seen.asked.update({run.file.text.path} if path in named else ())
    return seen


def _runs_in(file: ParsedConfig, facts: Recording) -> tuple[EffectiveConfig, ...]:
    found = (*runs(file, facts),)
    written = of_notebook(file, facts) if kind_of(file.text.path) == "notebook" else None
    return (*found, written) if written is not None else found


def runs_of(
    files: Sequence[Path],
    facts: Recording,
    named: frozenset[Path],
    note: Callable[[str], None],
    least: Confidence,
    pages: Sequence[Path] = (),
) -> Explanation:
    """The same for a project that is known already."""
    seen = _seen_in(files, pages, facts, named, note)
    found, left, asked = seen.found, seen.left, seen.asked
    if not found and not left and not seen.aside:
        names = ", ".join(known_frameworks())
        note(f"no supported configuration found; supported frameworks: {names}")
    purposes = Purposes(facts)
    for purpose in _purposes(seen.launched, _understood(found, facts), purposes):
        key = identity(purpose)
        found[key] = _with_more(found[key], purpose) if key in found else purpose
    for one in seen.also:
        found |= {identity(run): run for run in map(of_torch, purposes.of(one)) if run is not None}
    known = _understood(found, facts)
    left = dict(_without(known, left))
    doubtful = {one.file.text.path: one for one in left.values() if one.launch is None}
    doubtful |= {one.file.text.path: one for one in _by_keys_alone(found.values())}
    vain = [words_in_vain(one, facts) for one in left.values()]
    vain += [never_asked(one, facts) for one in doubtful.values()]
    for run in filter(None, vain):
        key = identity(run)
        found[key] = _with_more(found[key], run) if key in found else run
    known = _understood(found, facts)
    left = {
        place: replace(one, settings=with_reasons(one, purposes.misses, facts))
        for place, one in _without(known, left)
    }
    for options in (one for path in files for one in _untaken(path, known, facts)):
        declared = meant(options, facts)
        for run in declared.runs:
            key = identity(run)
            is_more = key in found and isinstance(found[key].source, RolesSource)
            found[key] = _with_more(found[key], run) if is_more else run
        if declared.rest:
            place = options.file.text.path, options.span
            left[place] = replace(options, settings=declared.rest)
    left |= seen.aside
    last = frozenset(map(str, pages))
    whole = sorted(_whole(found.values(), facts), key=lambda row: (row[0][0] in last, row[0]))
    all_runs = [
        _with_unread(explained_run(_named(run, facts), facts, least), left) for _, run in whole
    ]
    all_runs = _without_shapes(all_runs)
    asked -= {run.path for run in all_runs if run.says_something}
    shown = [run for run in all_runs if run.says_something or run.path in asked]
    if silent := len(all_runs) - len(shown):
        count = "1 run is" if silent == 1 else f"{silent} runs are"
        note(f"{count} not shown, without any precision setting: name a file to see its runs")
    return Explanation(shown, [_unexplained(one) for _, one in sorted(left.items(), key=_row)])


def _understood(
    found: Table[object, EffectiveConfig], facts: Recording
) -> frozenset[tuple[Path, Span]]:
    return understood(as_shown(run, facts) for run in found.values())


def _by_keys_alone(readings: Iterable[EffectiveConfig]) -> Iterator[Unread]:
    """The settings of files that nothing but their keys gives to a framework."""
    for reading in readings:
        if reading.is_by_keys and isinstance(reading.source, MappingSource):
            yield from (one for one in unread(reading.file, ()) if one.file is reading.file)


def _named(run: EffectiveConfig, facts: Recording) -> EffectiveConfig:
    """The run, with the program that the end of its path says, and why nobody reads its file; of a
    file that no launch gives to anybody, whether any file names it, and of one that its keys alone
    give to a program, by which word that takes it.
    """
    started = launch_of(run.source)
    if started is not None:
        run = replace(run, program_at=found_by_end(started, run.file, facts))
    if not run.is_unread and is_for_another(run, facts):
        run = replace(run, is_unread=True)
    if (in_vain := cut_by_return(run) or named_in_vain(run, facts)) is not None:
        return replace(run, in_vain=in_vain)
    if (place := given_anyway(run, facts)) is not None:
        run = replace(run, given_anyway=place)
    source = run.source
    if run.is_by_keys and isinstance(source, CallSource) and source.code is not run.file:
        run = replace(run, taken_by=word_of(source.code.text.path, run.file, facts))
    if isinstance(source, CallSource) and source.launch is None and source.code is not run.file:
        chosen_by = choice_of(run.file.text.path, source.code.text.path, facts)
        run = replace(run, chosen_by=chosen_by)
    is_alone = kind_of(run.file.text.path) in FORMATS and started is None
    naming = naming_of(run.file, facts) if is_alone else "files"
    if naming == "files":
        return run
    return replace(
        run,
        is_unnamed=naming == "nothing",
        is_described=naming == "texts",
        is_output=naming == "writers",
    )


def _untaken(path: Path, known: Set[tuple[Path, Span]], facts: Recording) -> Iterator[Unread]:
    """The options of a program that no run is seen to have."""
    if kind_of(path) == "python" and (options := untaken(path, known, facts)):
        text = options[0].file.text
        yield Unread(options[0].file, Span(0, len(text.text)), None, options)


def _purposes(
    rests: Iterable[Unread], known: Set[tuple[Path, Span]], purposes: Purposes
) -> Iterator[EffectiveConfig]:
    """What settings are for that no run understands."""
    for one in rests:
        settings = tuple(each for each in one.settings if written_at(each) not in known)
        if settings:
            yield from purposes.of(replace(one, settings=settings))


def _with_more(run: EffectiveConfig, other: EffectiveConfig) -> EffectiveConfig:
    """What a program does with its settings, and with others of the same run."""
    source, more = run.source, other.source
    assert isinstance(source, RolesSource)
    assert isinstance(more, RolesSource)
    given = distinct((*source.given.items(), *more.given.items()))
    both = replace(source, given=given, settings=(*source.settings, *more.settings))
    return replace(run, framework=with_keys(run.framework, given), source=both)


def _without_shapes(runs: list[Run]) -> list[Run]:
    """The runs without files that look like a framework's, where programs are seen to read all that
    they say and to give it to a framework, and without options of which nothing but the program
    makes anything.
    """
    of_programs = [run for run in runs if isinstance(run.explained.reading.source, CallSource)]
    read = understood(run.explained.reading for run in of_programs)
    of_frameworks = (
        one for one in of_programs if not isinstance(one.explained.reading.source, RolesSource)
    )
    given = understood(run.explained.reading for run in of_frameworks)
    found = {_what_is_found(one) for run in of_programs for one in run.findings}

    def is_said(run: Run) -> bool:
        reading = run.explained.reading
        said = read if reading.is_by_keys or reading.is_unread else given
        return _is_shape(run, found) and _settings_of(run) <= said

    return [run for run in runs if not is_said(run)]


def _is_shape(run: Run, found: Set[tuple[str, Place]]) -> bool:
    """True for a file that nothing but its keys identifies, and for options of a class whose reader
    the program does not make, if nothing else is said of them than the settings, and those of what
    they refer to.
    """
    source = run.explained.reading.source
    is_file = isinstance(source, MappingSource) and source.file.python is None
    is_call = isinstance(source, CallSource) and not isinstance(source, RolesSource)
    is_left = run.explained.reading.is_unread and bool(run.explained.program) and not is_call
    is_said = all(_what_is_found(one) in found for one in run.findings)
    return (is_file or is_left) and is_said and not run.unread


def _what_is_found(finding: Finding) -> tuple[str, Place]:
    return finding.code, finding.place


def _settings_of(run: Run) -> frozenset[tuple[Path, Span]]:
    """Where the precisions of a run are written; an empty place if there are none."""
    precise = (
        one.written
        for part in _parts(run.explained)
        for one in part.settings
        if one.key.role != "other"
    )
    written = frozenset(written_at(one) for one in precise if one is not None)
    return written or frozenset({(run.path, Span(0, 0))})


def _parts(explained: Explained) -> Iterator[Explained]:
    yield explained
    for _, linked in explained.links:
        yield from _parts(linked)


def _without(
    known: Set[tuple[Path, Span]], left: dict[tuple[Path, Span], Unread]
) -> Iterator[tuple[tuple[Path, Span], Unread]]:
    """What is left of the settings if runs that start from other files understand some, and others
    are listed with the launch that gets them.
    """
    launched = {written_at(each) for one in left.values() if one.launch for each in one.settings}
    for place, one in left.items():
        elsewhere = known if one.launch is not None else known | launched
        rest = tuple(each for each in one.settings if written_at(each) not in elsewhere)
        if rest:
            yield place, replace(one, settings=rest)


def _row(item: tuple[tuple[Path, Span], Unread]) -> tuple[str, Span]:
    return str(item[0][0]), item[0][1]


def _with_unread(run: Run, left: dict[tuple[Path, Span], Unread]) -> Run:
    """The run with what is not understood in its launch or file, which leaves `left`."""
    place = run.explained.place
    rest = left.pop((place.path, place.span), None)
    return replace(run, unread=rest.settings) if rest is not None else run


def _unexplained(rest: Unread) -> Unexplained:
    place = rest.file.text.place(rest.span)
    program = rest.launch.program.replace(UNKNOWN, "…") if rest.launch is not None else ""
    is_whole = rest.launch is None and rest.file.masked is None
    return Unexplained(place, is_whole, program, rest.settings)


def identity(run: EffectiveConfig) -> tuple[object, ...]:
    """What tells runs apart: where they start and with which words, who reads them, by which call
    and under which condition.

    The words of a command in a loop differ from pass to pass.
    """
    source = run.source
    call = None
    if isinstance(source, CallSource):
        call = source.code.text.path, source.call, source.only_if
    started = launch_of(source)
    words = (*started.launcher, *started.words) if started is not None else ()
    return _place(run), run.framework.slug, call, tuple(word.text for word in words)


def _whole(
    readings: Iterable[EffectiveConfig], facts: Recording
) -> Iterator[tuple[tuple[str, Span, str], EffectiveConfig]]:
    """The runs that are not part of another run: a launch identifies the framework best."""
    readings = list(readings)
    # Defaults of a program have the place of the launch, and so have several runs of one launch.
    below = ({_place(part) for part in run.parts} - {_place(run)} for run in readings)
    known = frozenset[tuple[Path, Span]]().union(*below)
    called = {_call(part) for run in readings for part in run.fallbacks} - {None}
    whole = [run for run in readings if _place(run) not in known and _call(run) not in called]
    read = understood(as_shown(run, facts) for run in whole)
    # What the program of a file does with it is no part of the launch that names the file.
    whole += [
        run
        for run in readings
        if _place(run) in known and isinstance(run.source, RolesSource | CallSource)
        if not understood([run]) <= read
    ]
    for run in whole:
        place = _place(run)
        yield (str(place[0]), place[1], run.framework.slug), run


def _call(reading: EffectiveConfig) -> tuple[str, Path, Span] | None:
    """The call in Python that a reading is; what a program is seen to give it says more."""
    if not isinstance(reading.source, MappingSource) or reading.file.python is None:
        return None
    return (reading.framework.slug, *_place(reading))


def _place(reading: EffectiveConfig) -> tuple[Path, Span]:
    return reading.file.text.path, reading.source.span
