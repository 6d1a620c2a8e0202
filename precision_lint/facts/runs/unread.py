"""The settings of precision that nothing understands: no framework or call is seen to read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from precision_lint.facts.frameworks.launches import Launch, handles_words, launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import (
    CallSource,
    CodePlace,
    CommandSource,
    EnvironmentSource,
    MappingSource,
    Occurrence,
    RolesSource,
    typed,
)
from precision_lint.facts.settings.vocabulary import (
    is_about_precision,
    is_setting_of_precision,
    names_precision,
)
from precision_lint.model.finding import Place, Span
from precision_lint.source.config.config_file import Format, ParsedConfig
from precision_lint.source.config.options import Option, assignments, options, pairs
from precision_lint.source.config.settings_tree import (
    Entry,
    Mapping,
    Member,
    Opaque,
    Scalar,
    Sequence,
    Value,
    mappings,
)
from precision_lint.source.shell.commands import inner_script
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import UNKNOWN
from precision_lint.source.text.text import SourceText

Written: TypeAlias = "tuple[Path, Span]"
"""The file and the span that something is written at, also in a sourced file."""

_MOST = 200
"""Settings of one file; where there are more, it is a table of some kind."""
_MOST_MAPPINGS = 5_000
_LONGEST = 2_000
"""Characters of a text in which options are looked for; a longer one is a page."""
_DEFAULT = re.compile(r"""["']?\$\{\w+:?[-=]["']?([^{}]*?)["']?\}["']?""", re.ASCII)
"""`${FLAGS:---fp16 --seed 1}`, the whole value of a variable."""
_GIVEN = re.compile(
    r"(?:^|[\s,;'\"])(?:--([A-Za-z][\w.-]*)(?:[= ]([^\s,;'\"]+))?|([A-Za-z]\w*)=([\w.-]+))"
)
"""An option or an argument in a text: `--dtype half`, `pretrained=a,dtype=float16`."""


_LINE = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?["']?(?P<name>[A-Za-z][\w.-]*)["']?[ \t]*[:=][ \t]*["']?
        (?P<value>[^\s"'#,]+)["']?
      | [(,\s](?P<argument>[A-Za-z]\w*)=["']?(?P<given>[\w.]+)["']?(?=[,)])""",
    re.MULTILINE | re.ASCII | re.VERBOSE,
)
"""`dtype: half`, `load(path, dtype=torch.half)` in a text that no parser takes."""


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
        if each.script is not None:
            yield from _of_script(each, known)
        if each.documents:
            found = _distinct(islice(_of_documents(each, known), _MOST))
            if found:
                yield Unread(each, each.documents[0].span, None, found)


def unread_lines(text: SourceText, format: Format) -> Iterator[Unread]:
    """The same for a file that cannot be parsed, such as a template: line by line."""
    file = ParsedConfig(text, format)
    whole = Span(0, len(text.text))
    if found := tuple(islice(_of_lines(file, whole), _MOST)):
        yield Unread(file, whole, None, found)


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


def _distinct(found: Iterable[Occurrence]) -> tuple[Occurrence, ...]:
    """Each place once."""
    return tuple({written_at(one): one for one in reversed([*found])}.values())[::-1]


# Scripts


def _of_script(file: ParsedConfig, known: frozenset[Written]) -> Iterator[Unread]:
    """Those of each launch, then what the other commands and the variables of a script say."""
    assert file.script is not None
    seen: set[Written] = set()
    rest: list[Occurrence] = []
    for command in file.script.commands:
        started = launch(command)
        if started is not None:
            words = (*started.launcher, *started.words)
            found = _distinct(_of_words(file, words, known))
            seen |= {written_at(one) for one in found}
            if found:
                yield Unread(file, started.span, started, found)
        elif not handles_words(command):
            rest += _of_words(file, command.words, known)
    for name, assigned in file.script.assigned:
        rest += _of_variable(file, name, assigned, known)
    parsed = {part.heredoc.body for part in file.embedded if part.heredoc is not None}
    for body in file.script.bodies:
        rest += _of_lines(file, body) if body not in parsed else ()
    left = [one for one in rest if written_at(one) not in seen]
    if left:
        yield Unread(file, Span(0, len(file.text.text)), None, _distinct(left)[:_MOST])


def _of_words(
    file: ParsedConfig, words: tuple[Word, ...], known: frozenset[Written]
) -> Iterator[Occurrence]:
    given = [*options(words), *assignments(words), *pairs(words)]
    for option in given:
        section, _, name = option.name.rpartition(".")
        found = Occurrence(option.name, option.value, option, file)
        if written_at(found) not in known and is_setting_of_precision(
            name, typed(option.value), section.rpartition(".")[2]
        ):
            yield found
    taken = {id(word) for option in given for word in option.words}
    read = _read(file)
    for word in words:
        bare = word.text.removeprefix("-")
        if id(word) in taken or bare.startswith("-"):
            continue
        is_option = bare != word.text and is_about_precision(bare)
        is_text = " " in bare and word.span not in read and word.elsewhere is None
        if is_text and (found_in := [*_of_lines(file, word.span)]):
            yield from found_in
        elif is_option or names_precision(bare) or (is_text and _gives_precision(bare)):
            found = Occurrence(bare, True, Option(bare, True, (word,)), file)
            if written_at(found) not in known:
                yield found


def _read(file: ParsedConfig) -> frozenset[Span]:
    """The words of commands that are scripts, and that are read as such."""
    assert file.script is not None
    inner = (inner_script(command.words) for command in file.script.commands)
    return frozenset(word.span for word in inner if word is not None)


def _of_variable(
    file: ParsedConfig, name: str, assigned: Assigned, known: frozenset[Written]
) -> Iterator[Occurrence]:
    """What is assigned to a variable: a precision, or words of a command line."""
    assert file.script is not None
    path, span = file.text.path, assigned.span
    text = assigned.text.chars
    if UNKNOWN in text and (default := _DEFAULT.fullmatch(file.text[span].partition("=")[2])):
        text = default[1]
    value = None if UNKNOWN in text else typed(text)
    is_default = text is not assigned.text.chars and _gives_precision(text)
    if is_default or (value is not None and is_setting_of_precision(name, value)):
        # The options in it are understood then, or the one that takes it.
        if not any(at == path and span.start <= one.start < span.end for at, one in known):
            yield Occurrence(name, value, assigned, file)
        return
    words = assigned.elements or tuple(file.script.places.split(assigned.text))
    if len(words) > 1 or assigned.is_array or text.startswith("-"):
        yield from _of_words(file, words, known)


def _gives_precision(text: str) -> bool:
    """True for a text with an option or an argument that is about precision."""
    if len(text) > _LONGEST:
        return False
    return any(
        is_setting_of_precision(
            match[1] or match[3], typed(match[2] or match[4]) if match[2] or match[4] else True
        )
        for match in _GIVEN.finditer(text)
    )


def _of_lines(file: ParsedConfig, inside: Span) -> Iterator[Occurrence]:
    for match in _LINE.finditer(file.text.text, *inside):
        name, value = match["name"] or match["argument"], typed(match["value"] or match["given"])
        if is_setting_of_precision(name, value):
            start = match.start("name" if match["name"] else "argument")
            yield Occurrence(name, value, CodePlace(Span(start, match.end())), file)


# Trees


def _of_documents(file: ParsedConfig, known: frozenset[Written]) -> Iterator[Occurrence]:
    found = [*islice(mappings(file.documents), _MOST_MAPPINGS)]
    sections = {
        id(entry.value): entry.name
        for mapping in found
        for entry in mapping.entries
        if isinstance(entry.value, Mapping)
    }
    started = [
        command.words[0].span.start
        for embedded in file.embedded
        if embedded.file.script is not None
        for command in embedded.file.script.commands
        if command.words
    ]
    for mapping in found:
        section = sections.get(id(mapping)) or ""
        for entry in mapping.entries:
            span = entry.span
            if (file.text.path, span) in known or entry.name is None:
                continue
            if any(span.start <= start < span.end for start in started):
                continue  # its commands are read
            if _is_of_precision(entry, section):
                value = entry.scalar
                yield Occurrence(entry.name, value, Member(mapping, entry), file)


def _is_of_precision(entry: Entry, section: str) -> bool:
    assert entry.name is not None
    match entry.value:
        case Scalar(value=str(text)) if _gives_precision(text):
            return True
        case Scalar(value=value):
            return is_setting_of_precision(entry.name, value, section)
        case Opaque(content=None | Scalar()):
            return is_setting_of_precision(entry.name, None, section)
        case Sequence(items=items):
            return any(_is_item_of_precision(entry.name, item) for item in items)
    return False


def _is_item_of_precision(name: str, item: Value) -> bool:
    """True for an item that names a precision, or is an option: `args: [--dtype, half]`."""
    if not isinstance(item, Scalar) or item.value is None:
        return False
    if isinstance(item.value, str) and _gives_precision(item.value):
        return True
    return names_precision(item.value) or (
        not isinstance(item.value, int | float) and is_setting_of_precision(name, item.value)
    )


# What is understood


def understood(runs: Iterable[EffectiveConfig]) -> frozenset[Written]:
    """Where the settings are written that are keys of a framework, or arguments of a call, and
    where variables give their values.
    """
    return frozenset(place for run in runs for part in run.parts for place in _understood(part))


def _understood(part: EffectiveConfig) -> Iterator[Written]:
    found: Iterable[Occurrence]
    match part.source:
        case RolesSource(settings=settings):
            found = settings
        case CallSource(given=given, settings=settings):
            found = (*given.values(), *settings)
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
    """The entries of the sections whose keys a framework lists."""
    for conflict in part.framework.conflicts:
        section: Mapping | None = (
            source.section(conflict.unknown_in) if conflict.unknown_in else None
        )
        if section is not None:
            yield from (entry.span for entry in section.entries)
