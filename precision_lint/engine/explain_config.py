"""Which framework reads a configuration, the resulting precision, and the origin of each value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from collections.abc import Mapping as Table
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from precision_lint.engine import registry
from precision_lint.facts.frameworks.launches import launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.runs import runs
from precision_lint.facts.frameworks.sources import (
    CallSource,
    CodePlace,
    MappingSource,
    Occurrence,
    RolesSource,
    launch_of,
)
from precision_lint.facts.frameworks.table import Key, Role, frameworks
from precision_lint.facts.frameworks.triggers import may_be_read
from precision_lint.facts.frameworks.verdicts import verdicts_of
from precision_lint.facts.project.facts import ProjectFacts, Recording
from precision_lint.facts.runs.declared_options import meant
from precision_lint.facts.runs.never_asked import never_asked
from precision_lint.facts.runs.purposes import Purposes, of_torch, read_as_well
from precision_lint.facts.runs.reasons import with_reasons
from precision_lint.facts.runs.records import is_record
from precision_lint.facts.runs.roles import distinct, with_keys
from precision_lint.facts.runs.shown import as_shown
from precision_lint.facts.runs.understood import understood, written_at
from precision_lint.facts.runs.unread import Unread, unread, unread_commands, unread_lines
from precision_lint.facts.runs.untaken_options import untaken
from precision_lint.facts.settings.vocabulary import (
    chooses_precision,
    is_precise,
    mentions_precision,
)
from precision_lint.model.finding import Confidence, Finding, Place, Span
from precision_lint.model.frozen import frozen
from precision_lint.project import disk
from precision_lint.project.discovery import Kind, holds_commands, kind_of
from precision_lint.project.files import Project
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option
from precision_lint.source.config.settings_tree import Mapping, Member, Scalar
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import UNKNOWN
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

Status: TypeAlias = Literal["set", "null", "unknown", "default", "open", "unset"]
"""How a setting got its value: it is written; it is null; it is only known at run time; it is not
written, so the default counts; it may be set elsewhere; the framework decides."""

_ROLES: tuple[Role, ...] = get_args(Role)
_MOST_KEYS = 6


class CannotExplain(Exception):
    """A path is not a readable configuration."""


@frozen
class Effective:
    """The effective value of one key. `overridden` are the values that lost."""

    key: Key
    status: Status
    value: object = None
    written: Occurrence | None = None
    overridden: tuple[Occurrence, ...] = ()


@frozen
class Lost:
    """A reference to a configuration that was not found, or whose path is unknown."""

    name: str
    reference: Effective


@frozen
class Explained:
    """One configuration as its framework reads it, with the configurations that it refers to."""

    reading: EffectiveConfig
    release: tuple[int, ...] | None
    """That of the framework's library which the project pins, if it does."""
    settings: tuple[Effective, ...]
    links: tuple[tuple[str, Explained], ...]
    lost: tuple[Lost, ...]
    also_read: tuple[Occurrence, ...] = ()
    """The other settings of precision that the program was seen to read for these."""

    @property
    def place(self) -> Place:
        return self.reading.file.text.place(self.reading.source.span)

    @property
    def says_something(self) -> bool:
        """True if it has a setting, or refers to another configuration."""
        return bool(self.links or self.lost or any(one.written for one in self.settings))

    @property
    def program(self) -> str:
        """The started program, with dots for parts unknown until run time; empty if none."""
        started = launch_of(self.reading.source)
        return started.program.replace(UNKNOWN, "…") if started is not None else ""

    @property
    def reader(self) -> Path | None:
        """The program that opens the configuration, where no launch is known that says so."""
        source = self.reading.source
        if not isinstance(source, CallSource) or source.launch or source.file is source.code:
            return None
        return source.code.text.path

    @property
    def only_if(self) -> str:
        """The condition under which the program makes what reads it, if it may not hold."""
        source = self.reading.source
        return source.only_if if isinstance(source, CallSource) else ""

    @property
    def beneath(self) -> list[Path]:
        """The other files from which settings of the same configuration come."""
        paths = (other.file.text.path for other in self.reading.fallbacks)
        return [path for path in dict.fromkeys(paths) if path != self.reading.file.text.path]

    @property
    def is_whole(self) -> bool:
        """True if it is a whole file, so that its row need not be shown."""
        file = self.reading.file
        spans = {Span(0, len(file.text.text)), *(one.span for one in file.documents)}
        return file.masked is None and self.reading.source.span in spans


@frozen
class Run:
    """A run of a program: its configuration, its findings, and what is not understood beside it."""

    explained: Explained
    findings: tuple[Finding, ...]
    unread: tuple[Occurrence, ...] = ()

    @property
    def path(self) -> Path:
        return self.explained.place.path

    @property
    def says_something(self) -> bool:
        """True if it sets any precision, or has findings."""
        return bool(self.findings or self.unread) or self.explained.says_something


@frozen
class Unexplained:
    """A launch or a file of which no framework is known to read the settings of precision."""

    place: Place
    is_whole: bool
    """It is a file as a whole, so that its row need not be shown."""
    program: str
    unread: tuple[Occurrence, ...]


@frozen
class Explanation:
    """What is known of some files."""

    runs: list[Run]
    unexplained: list[Unexplained]


def explained_runs(
    files: Sequence[Path],
    project: Project,
    named: Iterable[Path],
    note: Callable[[str], None],
    least: Confidence = Confidence.MEDIUM,
) -> Explanation:
    """The runs that files take part in, in order of place; `note` reports what is left out.

    Runs that set no precision are left out, unless a file of `named` takes part in them. Findings
    with less confidence than `least` are left out, as they are from other reports.

    Raises:
        CannotExplain: a file of `named` cannot be read or parsed.
    """
    return runs_of(files, ProjectFacts(project).recording(), frozenset(named), note, least)


def runs_of(
    files: Sequence[Path],
    facts: Recording,
    named: frozenset[Path],
    note: Callable[[str], None],
    least: Confidence,
) -> Explanation:
    """The same for a project that is known already."""
    found: dict[object, EffectiveConfig] = {}
    left: dict[tuple[Path, Span], Unread] = {}
    launched: list[Unread] = []
    also: list[Unread] = []
    asked: set[Path] = set()
    for path in files:
        if path not in named and (kind_of(path) is None or holds_commands(path)):
            left |= {(path, one.span): one for one in _lines(path)}
            continue
        try:
            file = _read(path, facts, is_named=path in named)
        except CannotExplain as problem:
            if path in named:
                raise
            note(str(problem))
            left |= {(path, one.span): one for one in _lines(path)}
            continue
        if file is None:
            continue
        read = runs(file, facts)
        if file.defect is not None and (read or path in named):
            note(f"{_problem(path, file.defect)}; only the readable part is explained")
        seen = [as_shown(run, facts) for run in read]
        rest = [] if not read and is_record(file, facts) else list(unread(file, seen))
        left |= {(path, one.span): one for one in rest}
        launched += rest  # one command may be several launches
        also += read_as_well(file, read, facts)
        if not read and not rest and path in named:
            note(f"{path}: {_nothing_read(file)}")
        for run in read:
            found[identity(run)] = run
            asked |= {run.file.text.path} if path in named else set()
    if not found and not left:
        names = ", ".join(known_frameworks())
        note(f"no supported configuration found; supported frameworks: {names}")
    purposes = Purposes(facts)
    for purpose in _purposes(launched, _understood(found, facts), purposes):
        key = identity(purpose)
        found[key] = _with_more(found[key], purpose) if key in found else purpose
    for one in also:
        found |= {identity(run): run for run in map(of_torch, purposes.of(one)) if run is not None}
    known = _understood(found, facts)
    left = dict(_without(known, left))
    doubtful = {one.file.text.path: one for one in left.values() if one.launch is None}
    doubtful |= {one.file.text.path: one for one in _by_keys_alone(found.values())}
    for run in filter(None, (never_asked(one, facts) for one in doubtful.values())):
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
    whole = sorted(_whole(found.values(), facts), key=lambda row: row[0])
    all_runs = [_with_unread(explained_run(run, facts, least), left) for _, run in whole]
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
    they say and to give it to a framework.
    """
    of_programs = [run for run in runs if isinstance(run.explained.reading.source, CallSource)]
    read = understood(run.explained.reading for run in of_programs)
    of_frameworks = (
        one for one in of_programs if not isinstance(one.explained.reading.source, RolesSource)
    )
    given = understood(run.explained.reading for run in of_frameworks)
    found = {_what_is_found(one) for run in of_programs for one in run.findings}

    def is_said(run: Run) -> bool:
        said = read if run.explained.reading.is_by_keys else given
        return _is_shape(run, found) and _settings_of(run) <= said

    return [run for run in runs if not is_said(run)]


def _is_shape(run: Run, found: Set[tuple[str, Place]]) -> bool:
    """True for a file that nothing but its keys identifies, and of which nothing else is said."""
    source = run.explained.reading.source
    is_file = isinstance(source, MappingSource) and source.file.python is None
    is_said = all(_what_is_found(one) in found for one in run.findings)
    return is_file and is_said and not run.unread and not run.explained.links


def _what_is_found(finding: Finding) -> tuple[str, Place]:
    return finding.code, finding.place


def _settings_of(run: Run) -> frozenset[tuple[Path, Span]]:
    """Where the precisions of a run are written; an empty place if there are none."""
    precise = (one.written for one in run.explained.settings if one.key.role != "other")
    written = frozenset(written_at(one) for one in precise if one is not None)
    return written or frozenset({(run.path, Span(0, 0))})


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
    whole = [run for run in readings if _place(run) not in known]
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


def _place(reading: EffectiveConfig) -> tuple[Path, Span]:
    return reading.file.text.path, reading.source.span


def explained_run(
    run: EffectiveConfig, project: Recording, least: Confidence = Confidence.MEDIUM
) -> Run:
    """A run, explained."""
    findings: dict[object, Finding] = {}
    for verdict in verdicts_of(run, project):
        finding = verdict.finding(registry.rule(verdict.conflict.rule), None)
        if finding.confidence >= least:
            findings.setdefault(finding.sort_key, finding)
    found = tuple(sorted(findings.values(), key=lambda one: one.sort_key))
    return Run(explained(as_shown(run, project), project), found)


def explained(reading: EffectiveConfig, project: Recording) -> Explained:
    """A configuration, explained, with the configurations that it refers to."""
    referring = {link.key for link in reading.framework.links}
    settings = [
        effective
        for key in reading.framework.keys.values()
        if (effective := _effective(reading, key)).status in ("set", "null", "unknown")
        or key.role != "other"
        if key.name not in referring or effective.status == "default"
        if not isinstance(effective.value, Mapping)  # its members are separate settings
    ]
    settings.sort(key=lambda one: (_ROLES.index(one.key.role), one.written is None))
    named = {link.name for link in reading.framework.links if link.key or link.positional}
    links = [
        (name, part)
        for name, linked in reading.links.items()
        if (part := explained(linked, project)).says_something or name in named
    ]
    lost = [
        Lost(link.name, _effective(reading, reading.key(link.key)))
        for link in reading.framework.links
        if not link.merges and link.name not in reading.links and reading.may_link(link.name)
    ]
    release = project.release_of(reading.framework.library)
    also = tuple(_also_read(reading, settings))
    return Explained(reading, release, tuple(settings), tuple(links), tuple(lost), also)


def _also_read(reading: EffectiveConfig, settings: Sequence[Effective]) -> Iterator[Occurrence]:
    source = reading.source
    shown = (one for row in settings for one in (row.written, *row.overridden))
    known = {(one.file.text.path, one.origin.span) for one in shown if one is not None}
    for one in source.settings if isinstance(source, CallSource) else ():
        place = one.file.text.path, one.origin.span
        is_said = not isinstance(one.origin, CodePlace) and place not in known
        name = one.name.rpartition(".")[2]
        if is_said and (is_precise(one.name) or chooses_precision(name, one.value)):
            known.add(place)
            yield one


def _effective(reading: EffectiveConfig, key: Key) -> Effective:
    setting = reading.setting(key.name)
    if setting is None:
        return Effective(key, "unset" if reading.is_closed_for(key) else "open")
    if setting.written is None:
        return Effective(key, "default", setting.value)
    status: Status = "set"
    if setting.value is None:
        status = "null" if _is_null(setting.written) else "unknown"
    overridden = tuple(one for one in reading.overridden(key) if not _hands_over(reading, one))
    return Effective(key, status, setting.value, setting.written, overridden)


def _hands_over(reading: EffectiveConfig, written: Occurrence) -> bool:
    """True for the argument of a call by which a setting gets there: it loses against nothing."""
    source = reading.source
    return isinstance(source, CallSource) and written.file.text is source.code.text


def _is_null(written: Occurrence) -> bool:
    origin = written.origin
    return (
        isinstance(origin, Member)
        and isinstance(origin.entry.value, Scalar)
        and origin.entry.value.value is None
    )


def place_of(written: Occurrence) -> Place:
    """The place where a setting is written, also in a sourced file."""
    match written.origin:
        case Option(words=(first, *_)) if first.elsewhere:
            return first.elsewhere
        case Assigned(elsewhere=place) if place:
            return place
    return written.file.text.place(written.origin.span)


def source_of(written: Occurrence) -> str:
    """The source text of a setting, on one line."""
    text = written.file.text
    match written.origin:
        case Option(words=words):
            source = " ".join(_written(word, text) for word in words)
        case origin:
            source = text[origin.span]
    return " ".join(source.split())


def _written(word: Word, text: SourceText) -> str:
    """A word as it is written; one that is put together from several places as it comes out."""
    source = text[word.span]
    is_whole = word.verbatim or "$" in source or UNKNOWN in word.text
    return source if is_whole else word.text


# Files


def _read(path: Path, project: Recording, *, is_named: bool) -> ParsedConfig | None:
    """A parsed file; None for one that cannot be a configuration."""
    try:
        kind = kind_of(path)
        if not is_named and kind and not _may_be_one(path, kind):
            return None
        file = project.config_files.at(path) or project.config_files.read(path)
    except Unparsable as problem:
        raise CannotExplain(_problem(path, problem)) from problem
    except (RecursionError, MemoryError) as problem:
        raise CannotExplain(f"{path}: cannot be parsed: nested too deeply") from problem
    except (OSError, UnicodeError, LookupError) as problem:
        raise CannotExplain(f"{path}: cannot be read: {problem}") from problem
    if file is None and is_named:
        raise CannotExplain(f"{path}: too large for a configuration")
    return file


def _lines(path: Path) -> Iterator[Unread]:
    """What can be seen of a file that cannot be parsed."""
    kind = kind_of(path) or "toml"
    if kind not in ("yaml", "json", "toml"):
        return
    try:
        text = SourceText.from_bytes(path, disk.read(path, disk.LARGEST_CONFIG))
    except (OSError, UnicodeError, LookupError):
        return
    yield from unread_commands(text) if holds_commands(path) else unread_lines(text, kind)


def _may_be_one(path: Path, kind: Kind) -> bool:
    """False for a file that is too large for a configuration, or says nothing of settings."""
    is_code = kind in ("python", "notebook")
    if not is_code and disk.size(path) > disk.LARGEST_CONFIG:
        return False
    return _is_of_interest(path.read_bytes(), kind)


def _is_of_interest(content: bytes, kind: Kind) -> bool:
    """True if a framework may read it, or if it says something of precision."""
    is_config = kind not in ("python", "notebook") and mentions_precision(content)
    return is_config or may_be_read(content, kind)


def _problem(path: Path, problem: Unparsable) -> str:
    return f"{path}:{problem.row}:{problem.column}: cannot be parsed: {problem.message}"


def known_frameworks() -> list[str]:
    """The supported frameworks, by name."""
    return sorted((one.name for one in frameworks().values() if one.library), key=str.casefold)


def _nothing_read(file: ParsedConfig) -> str:
    """Why a file has no run: the commands or keys in it, which identify no framework."""
    if file.script is not None:
        started = filter(None, map(launch, file.script.commands))
        seen = ", ".join(dict.fromkeys(f"`{one.program}`" for one in started))
        what = f"it starts {seen}" if seen else "it starts no program with options"
    else:
        names = [
            f"`{entry.name}`"
            for document in file.documents
            if isinstance(document, Mapping)
            for entry in document.entries
            if entry.name is not None
        ]
        more = ", …" if len(names) > _MOST_KEYS else ""
        what = f"its keys are {', '.join(names[:_MOST_KEYS])}{more}" if names else "it has no keys"
    return f"no supported framework reads it: {what}"
