"""The settings of precision that nothing understands: no framework or call is seen to read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import (
    CallSource,
    CommandSource,
    MappingSource,
    Occurrence,
    RolesSource,
    typed,
)
from precision_lint.facts.settings.vocabulary import chooses_precision
from precision_lint.model.finding import Span
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import assignments, options, pairs
from precision_lint.source.config.settings_tree import Mapping, Member, Scalar, mappings

_MOST = 200
"""Settings of one file; where there are more, it is a table of some kind."""
_MOST_MAPPINGS = 5_000


@dataclass(frozen=True)
class Unread:
    """Settings that belong together: those of a launch, or those of a file."""

    file: ParsedConfig
    span: Span
    launch: Launch | None
    settings: tuple[Occurrence, ...]


def unread(file: ParsedConfig, runs: Iterable[EffectiveConfig]) -> Iterator[Unread]:
    """What a file says of precision that none of its runs understands."""
    known = understood(runs)
    for each in (file, *(embedded.file for embedded in file.embedded)):
        for command in each.script.commands if each.script is not None else ():
            started = launch(command)
            if started is not None:
                found = _distinct(_of_launch(each, started, known))
                if found:
                    yield Unread(each, started.span, started, found)
        if each.documents:
            found = _distinct(islice(_of_documents(each, known), _MOST))
            if found:
                yield Unread(each, each.documents[0].span, None, found)


def _distinct(found: Iterable[Occurrence]) -> tuple[Occurrence, ...]:
    """Each place once."""
    return tuple({one.origin.span: one for one in found}.values())


def _of_launch(
    file: ParsedConfig, started: Launch, known: frozenset[tuple[Path, Span]]
) -> Iterator[Occurrence]:
    words = (*started.launcher, *started.words)
    for option in (*options(words), *assignments(words), *pairs(words)):
        section, _, name = option.name.rpartition(".")
        if (file.text.path, option.span) not in known and chooses_precision(
            name, typed(option.value), section.rpartition(".")[2]
        ):
            yield Occurrence(option.name, option.value, option, file)


def _of_documents(file: ParsedConfig, known: frozenset[tuple[Path, Span]]) -> Iterator[Occurrence]:
    found = [*islice(mappings(file.documents), _MOST_MAPPINGS)]
    sections = {
        id(entry.value): entry.name
        for mapping in found
        for entry in mapping.entries
        if isinstance(entry.value, Mapping)
    }
    for mapping in found:
        section = sections.get(id(mapping)) or ""
        for entry in mapping.entries:
            if entry.name is None or not isinstance(entry.value, Scalar):
                continue
            if (file.text.path, entry.span) not in known and chooses_precision(
                entry.name, entry.value.value, section
            ):
                yield Occurrence(entry.name, entry.value.value, Member(mapping, entry), file)


def understood(runs: Iterable[EffectiveConfig]) -> frozenset[tuple[Path, Span]]:
    """Where the settings are written that are keys of a framework, or arguments of a call."""
    return frozenset(
        (path, span) for run in runs for part in run.parts for path, span in _understood(part)
    )


def _understood(part: EffectiveConfig) -> Iterator[tuple[Path, Span]]:
    found: Iterable[Occurrence]
    match part.source:
        case RolesSource(settings=settings):
            found = settings
        case CallSource(given=given, settings=settings):
            found = (*given.values(), *settings)
        case CommandSource() | MappingSource() as source:
            found = (one for name in _names(part) for one in source.all(name))
            if isinstance(source, MappingSource):
                spans = _in_sections(part, source)
                yield from ((source.file.text.path, span) for span in spans)
        case _:
            return
    yield from ((one.file.text.path, one.origin.span) for one in found)


def _names(part: EffectiveConfig) -> Iterator[str]:
    for key in part.framework.keys.values():
        yield from (key.name, *key.aliases)


def _in_sections(part: EffectiveConfig, source: MappingSource) -> Iterator[Span]:
    """The entries of the sections whose keys a framework lists."""
    for conflict in part.framework.conflicts:
        section: Mapping | None = (
            source.section(conflict.unknown_in) if conflict.unknown_in else None
        )
        if section is not None:
            yield from (entry.span for entry in section.entries)
