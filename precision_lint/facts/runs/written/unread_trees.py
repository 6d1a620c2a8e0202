"""What the trees of a file say of precision that no run understands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.runs.written.keys import VALUES
from precision_lint.facts.runs.written.understood import Written
from precision_lint.facts.runs.written.unread_texts import gives_precision
from precision_lint.facts.settings.vocabulary import (
    is_setting_of_precision,
    is_type_of_data,
    names_precision,
)
from precision_lint.source.config.config_file import ParsedConfig
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

_MOST_MAPPINGS = 5_000


def of_documents(file: ParsedConfig, known: frozenset[Written]) -> Iterator[Occurrence]:
    """The entries of the trees of a file that are about precision, and that no run understands."""
    found = [*islice(mappings(file.documents), _MOST_MAPPINGS)]
    names = sections(file)
    started = sorted(
        command.words[0].span.start
        for embedded in file.embedded
        if embedded.file.script is not None
        for command in embedded.file.script.commands
        if command.words
    )
    for mapping in found:
        section = names.get(id(mapping), "")
        for entry in mapping.entries:
            span = entry.span
            if (file.text.path, span) in known or entry.name is None:
                continue
            if bisect_left(started, span.start) < bisect_left(started, span.end):
                continue  # its commands are read
            if _is_of_precision(entry, section):
                value = entry.scalar
                name = section if entry.name in VALUES and section else entry.name
                yield Occurrence(name, value, Member(mapping, entry), file)


def sections(file: ParsedConfig) -> dict[int, str]:
    """The names of the sections of a file, by the identities of their mappings."""
    return {
        id(entry.value): entry.name or ""
        for mapping in islice(mappings(file.documents), _MOST_MAPPINGS)
        for entry in mapping.entries
        if isinstance(entry.value, Mapping)
    }


def _is_of_precision(entry: Entry, section: str) -> bool:
    assert entry.name is not None
    name = section if entry.name in VALUES and section else entry.name
    match entry.value:
        case Scalar(value=str(text)) if gives_precision(text):
            return True
        case Scalar(value=value):
            return is_setting_of_precision(name, value, section)
        case Opaque(content=None | Scalar()):
            return is_setting_of_precision(name, None, section)
        case Sequence(items=items):
            if any(isinstance(item, Scalar) and is_type_of_data(item.value) for item in items):
                return False  # types of columns
            return any(_is_item_of_precision(name, item) for item in items)
    return False


def _is_item_of_precision(name: str, item: Value) -> bool:
    """True for an item that names a precision, or is an option: `args: [--dtype, half]`."""
    if not isinstance(item, Scalar) or item.value is None:
        return False
    if isinstance(item.value, str) and gives_precision(item.value):
        return True
    return names_precision(item.value) or (
        not isinstance(item.value, int | float) and is_setting_of_precision(name, item.value)
    )
