"""Settings in a file that a script writes, where the script's own variables stand for them."""

from __future__ import annotations

from collections.abc import Mapping as Table
from dataclasses import dataclass, replace
from typing import Protocol

from precision_lint.model.finding import Span
from precision_lint.source.config.settings_tree import (
    Entry,
    Mapping,
    Opaque,
    Scalar,
    Sequence,
    Value,
)

_MOST = 5_000
"""Nodes of one file; aliases can make any number of them."""


class ReadLiteral(Protocol):
    """Reads a text as the format reads a single value; None if it is no literal."""

    def __call__(self, text: str) -> Scalar | None: ...


@dataclass
class Filling:
    """Puts values where the text of a file has something that its script replaces.

    `text` is the script's own text, and `values` are the parts of it that are known.
    """

    text: str
    values: Table[Span, str]
    unknown: frozenset[Span]
    """The parts that are replaced by what is not known."""
    read: ReadLiteral
    _left: int = _MOST

    def value(self, value: Value) -> Value:
        """The same value with all that is known in it."""
        self._left -= 1
        if self._left < 0:
            return value
        match value:
            case Mapping(entries=entries):
                return replace(value, entries=tuple(map(self._entry, entries)))
            case Sequence(items=items):
                return replace(value, items=tuple(map(self.value, items)))
            case Opaque(span=span):
                return self._literal(span) or value
        return value

    def _entry(self, entry: Entry) -> Entry:
        return replace(entry, key=self.value(entry.key), value=self.value(entry.value))

    def _literal(self, span: Span) -> Scalar | None:
        """A literal with the values in their places; None if not all of them are known."""
        if any(_is_in(each, span) for each in self.unknown):
            return None
        inner = sorted(each for each in self.values if _is_in(each, span))
        pieces, start = [], span.start
        for each in inner:
            pieces += [self.text[start : each.start], self.values[each]]
            start = each.end
        if not inner:
            return None
        found = self.read("".join([*pieces, self.text[start : span.end]]))
        return Scalar(span, found.value) if found is not None else None


def _is_in(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
