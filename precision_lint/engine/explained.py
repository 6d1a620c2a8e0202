"""Configurations as their frameworks read them: the effective values, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from precision_lint.engine import registry
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import (
    CallSource,
    CodePlace,
    MappingSource,
    Occurrence,
    launch_of,
)
from precision_lint.facts.frameworks.table import Key, Role
from precision_lint.facts.frameworks.verdicts import verdicts_of
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.nearest_conditions import condition_of
from precision_lint.facts.runs.roles.shown import as_shown
from precision_lint.facts.settings.vocabulary import (
    chooses_precision,
    is_precise,
)
from precision_lint.model.finding import Confidence, Finding, Place, Span
from precision_lint.model.frozen import frozen
from precision_lint.source.config.options import Option
from precision_lint.source.config.settings_tree import Mapping, Member, Scalar
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import UNKNOWN
from precision_lint.source.text.text import SourceText

Status: TypeAlias = Literal["set", "ignored", "null", "unknown", "default", "open", "unset"]
"""How a setting got its value: it is written; it is written under a name that is not read; it is
null; it is only known at run time; it is not written, so the default counts; it may be set
elsewhere; the framework decides."""

_ROLES: tuple[Role, ...] = get_args(Role)


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
class Unused:
    """A reference to a configuration that nobody reads, and the setting that decides it."""

    name: str
    reference: Effective
    why: Effective


@frozen
class Explained:
    """One configuration as its framework reads it, with the configurations that it refers to."""

    reading: EffectiveConfig
    release: tuple[int, ...] | None
    """That of the framework's library which the project pins, if it does."""
    settings: tuple[Effective, ...]
    links: tuple[tuple[str, Explained], ...]
    lost: tuple[Lost, ...]
    unused: tuple[Unused, ...] = ()
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
        if self.reading.read_by is not None:
            return self.reading.read_by
        if not isinstance(source, CallSource) or source.launch or source.file is source.code:
            return None
        return source.code.text.path

    @property
    def only_if(self) -> str:
        """The condition under which the program makes what reads it, if it may not hold."""
        source, python = self.reading.source, self.reading.file.python
        if isinstance(source, MappingSource) and python is not None:
            return condition_of(source.span, python)
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
        if (effective := _effective(reading, key)).status in ("set", "ignored", "null", "unknown")
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
    unused = tuple(
        Unused(name, _effective(reading, reference.key), _effective(reading, why.key))
        for name, reference, why in reading.unused
    )
    release = project.release_of(reading.framework.library)
    also = tuple(_also_read(reading, settings))
    return Explained(reading, release, tuple(settings), tuple(links), tuple(lost), unused, also)


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
    status: Status = "ignored" if key.instead else "set"
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
