"""One tree of settings for every format: the values a loader would build, and where each stands.

Spans are character offsets into the file's text. Nodes are compared by identity: YAML anchors make
the tree a graph in which one node may be reached by many ways, so neither equality nor a hash may
look inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from enum import Enum
from functools import cached_property
from typing import TypeAlias

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex

MAX_DEPTH = 200  # deeper than any configuration, far from Python's recursion limit
_MAX_SOURCES = 32  # mappings that one merge chain is followed through

EXPANDED = "\ue000"
"""Stands, in a file that a script writes, for each character of what the script puts there."""

_PLACEHOLDER = regex(rf"\$\{{|\{{\{{|\{{%|<%|{EXPANDED}")


class Merge(Enum):
    """The value of the YAML key `<<`."""

    KEY = "<<"


@frozen(eq=False)
class Scalar:
    """A literal, typed as the format's own loader types it. The span includes quotes."""

    span: Span
    value: object


@frozen(eq=False)
class Opaque:
    """A value that only run time knows: `${VAR}`, a template, a custom tag.

    It is neither false nor absent. `content` is what is written below a custom tag.
    """

    span: Span
    content: Value | None = None


@frozen(eq=False)
class Sequence:
    """An ordered list of values."""

    span: Span
    items: tuple[Value, ...]


@frozen(eq=False)
class Entry:
    """A key with its value. The span is the member as written, without comma or comment.

    Where the value is a YAML alias the span ends after the alias, while the value's own span is
    where the anchor stands.
    """

    key: Value
    value: Value
    span: Span

    @property
    def name(self) -> str | None:
        """The key, if it is a plain string."""
        key = self.key
        return key.value if isinstance(key, Scalar) and isinstance(key.value, str) else None

    @property
    def scalar(self) -> object:
        """The value if it is known and not a collection; None otherwise, and for null."""
        return self.value.value if isinstance(self.value, Scalar) else None


@frozen(eq=False, slots=False)
class Mapping:
    """Keys with values, in source order; duplicates are kept. `flow` tells `{...}` from lines.

    An open mapping may hold keys that are not written in it: one that is absent is unknown.
    `beneath` are mappings, of other files as well, that give what it leaves open, the strongest
    first.
    """

    span: Span
    entries: tuple[Entry, ...]
    flow: bool
    is_open: bool = False
    beneath: tuple[Mapping, ...] = ()

    def get(self, name: str) -> Member | None:
        """What a loader ends up with: own keys first, the last one of duplicates, then merged
        mappings in their precedence.
        """
        for source in self._sources:
            if name in source._own:
                return Member(source, source._own[name])
        return None

    def all(self, name: str) -> Iterator[Member]:
        """All entries of a name, what counts first: the rest is duplicates, or merged beneath."""
        for source in self._sources:
            for entry in reversed(source.entries) if name in source._own else ():
                if entry.name == name:
                    yield Member(source, entry)

    @property
    def names(self) -> Set[str]:
        """Its own keys, less those that are no strings."""
        return self._own.keys()

    @cached_property
    def _own(self) -> dict[str, Entry]:
        return {name: entry for entry in self.entries if (name := entry.name) is not None}

    @cached_property
    def _sources(self) -> tuple[Mapping, ...]:
        """This mapping and what it merges, the strongest first. Bounded, for alias bombs."""
        found: dict[int, Mapping] = {}
        pending = [self]
        while pending and len(found) < _MAX_SOURCES:
            mapping = pending.pop()
            if id(mapping) not in found:
                found[id(mapping)] = mapping
                pending.extend(reversed(mapping.merged))
        return tuple(found.values())

    @cached_property
    def merged(self) -> list[Mapping]:
        """The directly merged mappings: a later `<<` beats an earlier one, in a list the first.

        What lies beneath comes last.
        """
        merged: list[Mapping] = []
        for entry in reversed(self.entries):
            if isinstance(entry.key, Scalar) and entry.key.value is Merge.KEY:
                value = entry.value
                items = value.items if isinstance(value, Sequence) else (value,)
                merged += [item for item in items[:_MAX_SOURCES] if isinstance(item, Mapping)]
        return [*merged, *self.beneath][:_MAX_SOURCES]


@frozen(eq=False)
class Member:
    """An entry in the mapping where it is written."""

    mapping: Mapping
    entry: Entry

    @property
    def span(self) -> Span:
        return self.entry.span


Value: TypeAlias = Mapping | Sequence | Scalar | Opaque


def scalar(span: Span, value: object) -> Scalar | Opaque:
    """A literal; opaque if it is a string with a placeholder that something will substitute."""
    literal = Scalar(span, value)
    if isinstance(value, str) and _PLACEHOLDER.search(value):
        return Opaque(span, literal)
    return literal


def mappings(documents: Iterable[Value]) -> Iterator[Mapping]:
    """Every mapping of the documents once, outer before inner."""
    pending = list(documents)[::-1]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Mapping():
                yield value
                pending.extend(reversed(value.beneath))
                pending.extend(entry.value for entry in reversed(value.entries))
            case Sequence():
                pending.extend(reversed(value.items))
            case Opaque(content=content) if content is not None:
                pending.append(content)
