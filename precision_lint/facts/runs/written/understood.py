"""Where the settings are written that runs understand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import (
    CallSource,
    CodePlace,
    CommandSource,
    EnvironmentSource,
    MappingSource,
    Occurrence,
    RolesSource,
)
from precision_lint.model.finding import Place, Span
from precision_lint.source.config.options import Option
from precision_lint.source.config.settings_tree import Mapping
from precision_lint.source.shell.variables import Assigned
from precision_lint.source.shell.words import UNKNOWN

Written: TypeAlias = "tuple[Path, Span]"
"""The file and the span that something is written at, also in a sourced file."""


def understood(runs: Iterable[EffectiveConfig]) -> frozenset[Written]:
    """Where the settings are written that are keys of a framework, or arguments of a call, and
    where variables give their values.
    """
    return frozenset(place for run in runs for part in run.parts for place in _understood(part))


def _understood(part: EffectiveConfig) -> Iterator[Written]:
    found: Iterable[Occurrence]
    match part.source:
        case RolesSource(settings=settings, given=given, is_declared=is_declared):
            # Without a row for what they decide, nobody would see them.
            is_shown = is_declared or any(
                not isinstance(one.origin, CodePlace) for one in given.values()
            )
            found = settings if is_shown else ()
        case CallSource(given=given, settings=settings):
            keys = {*_names(part)}  # an argument of another name says nothing to the framework
            found = (*(one for name, one in given.items() if name in keys), *settings)
        case CommandSource() | EnvironmentSource() | MappingSource() as source:
            found = (one for name in _names(part) for one in source.all(name))
            if isinstance(source, MappingSource):
                spans = _in_sections(part, source)
                yield from ((source.file.text.path, span) for span in spans)
        case _:
            return
    for one in found:
        yield written_at(one)
        if (value := value_at(one)) is not None:
            yield value.path, value.span


def _names(part: EffectiveConfig) -> Iterator[str]:
    for key in part.framework.keys.values():
        yield from (key.name, *key.aliases)


def _in_sections(part: EffectiveConfig, source: MappingSource) -> Iterator[Span]:
    """The entries of the sections whose keys a framework lists, but for those that they lack."""
    for conflict in part.framework.conflicts:
        section: Mapping | None = (
            source.section(conflict.unknown_in) if conflict.unknown_in else None
        )
        if section is not None:
            known = (each for each in section.entries if each.name and conflict.allows(each.name))
            yield from (entry.span for entry in known)


def written_at(one: Occurrence) -> Written:
    """Where a setting is written: the name of an option, and not its value."""
    match one.origin:
        case Option(words=(first, *_)) if first.elsewhere is not None:
            return first.elsewhere.path, first.elsewhere.span
        case Assigned(elsewhere=place) if place is not None:
            return place.path, place.span
    return one.file.text.path, one.origin.span


def value_at(one: Occurrence) -> Place | None:
    """Where the value of an option is written, if a variable gives it."""
    if not isinstance(one.origin, Option) or one.file.script is None:
        return None
    value = one.origin.traced
    if not value.origins or UNKNOWN in value.chars:
        return None
    span, elsewhere = one.file.script.places.locate(value.span)
    first = one.origin.words[0]
    is_here = first.elsewhere is None and elsewhere is None
    if is_here and first.span.start <= span.start <= first.span.end + 1:
        return None
    return elsewhere or one.file.text.place(span)
