"""What is known of a value in a program: the value itself, and the setting that gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from precision_lint.facts.frameworks.sources import MappingSource, Occurrence
from precision_lint.source.config.settings_tree import Mapping as Tree


class Options:
    """The object that holds all options of a program: `args`."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of which it is known that it exists: it is true, and not None."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A file that a program reads, or a section of it.

    `overrides` are words of the command line that replace settings by their dotted names, `path` is
    the name of the section.
    """

    source: MappingSource
    path: str = ""
    overrides: Mapping[str, Occurrence] = field(default_factory=dict)

    def get(self, name: str) -> Known | None:
        """A setting or a section by its name; None if nothing gives it."""
        path = f"{self.path}.{name}" if self.path else name
        if written := self.overrides.get(path):
            return Known(written.value, written)
        written = self.source.get(path)
        if written is None:
            return None
        if isinstance(written.value, Tree):
            return Known(replace(self, path=path), written)
        return Known(written.value, written)

    def names(self) -> list[str]:
        """The names in it; what it merges included."""
        tree = self.source.section(self.path)
        trees = () if tree is None else (tree, *tree.merged)
        written = [entry.name for each in trees for entry in each.entries if entry.name]
        before = f"{self.path}." if self.path else ""
        given = (name.removeprefix(before) for name in self.overrides if name.startswith(before))
        return list(dict.fromkeys([*written, *(name for name in given if "." not in name)]))


Value: TypeAlias = "str | bool | int | float | Options | Settings | object | None"


@dataclass(frozen=True, slots=True)
class Known:
    """A value that a run gives, and the setting that it comes from: none for a constant.

    It `is_direct` if the program hands on what is written, and does not work it out.
    """

    value: Value
    written: Occurrence | None = None
    is_direct: bool = True

    def derived(self, value: Value) -> Known:
        """Another value that is worked out from this one."""
        return Known(value, self.written, is_direct=False)

    @property
    def is_plain(self) -> bool:
        """True for a value, and not for an object that holds some."""
        return isinstance(self.value, str | bool | int | float)


def truth(known: Known | None) -> bool | None:
    """Whether a value counts as true; None if it is not known."""
    if known is None or isinstance(known.value, Options | Settings):
        return None
    return bool(known.value)


def equal(one: object, other: object) -> bool:
    """Whether two plain values are equal; a truth value equals no number."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def agreed(values: Sequence[Known | None]) -> Known | None:
    """What all ways give; None if one is not known, or they differ."""
    first = values[0] if values else None
    if first is None:
        return None
    for other in values[1:]:
        if other is None:
            return None
        if isinstance(first.value, Options):
            if not isinstance(other.value, Options):
                return None
        elif isinstance(first.value, Settings):
            if not (
                isinstance(other.value, Settings)
                and other.value.source.root is first.value.source.root
                and other.value.path == first.value.path
            ):
                return None
        elif not equal(first.value, other.value):
            return None
    return first
