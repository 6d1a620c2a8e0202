"""What is known of a value in a program: the value itself, and the setting that gives it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol, TypeAlias

from precision_lint.facts.frameworks.sources import MappingSource, Occurrence
from precision_lint.model.frozen import frozen
from precision_lint.source.config.settings_tree import Mapping as Tree


class Holder(ABC):
    """An object that holds settings by their names."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """True if it gives a setting, or may do so."""

    @abstractmethod
    def get(self, name: str) -> Known | None:
        """A setting or a section by its name; None if it is not known, or nothing gives it."""

    def names(self) -> list[str]:
        """The names of what it certainly gives."""
        return []


@frozen(slots=False)
class Options(Holder):
    """The object that holds all options of a program: `args`."""

    option: Callable[[str], Known | None]
    declares: Callable[[str], bool]

    def has(self, name: str) -> bool:
        return self.declares(name)

    def get(self, name: str) -> Known | None:
        return self.option(name)


@frozen
class Thing:
    """An object of which it is known that it exists: it is true, and not None."""


class Unclear(Holder):
    """Settings that only run time knows."""

    def has(self, name: str) -> bool:
        return True

    def get(self, name: str) -> Known | None:
        return None


@frozen(slots=False)
class Items:
    """The items of a tuple or a list; those after the last are all `rest`."""

    items: tuple[Known | None, ...]
    rest: Known | None = None

    def at(self, index: int) -> Known | None:
        return self.items[index] if 0 <= index < len(self.items) else self.rest


@frozen(slots=False)
class Settings(Holder):
    """A file that a program reads, or a section of it.

    `overrides` are words of the command line that replace settings by their dotted names, `path` is
    the name of the section.
    """

    source: MappingSource
    path: str = ""
    overrides: Mapping[str, Occurrence] = field(default_factory=dict)
    is_partial: bool = False
    """The program puts it over others, which may have what it has not."""

    def has(self, name: str) -> bool:
        if self.is_partial:
            return True
        tree = self.source.section(self.path)
        is_open = tree is not None and tree.is_open
        return is_open or self.get(name) is not None

    def get(self, name: str) -> Known | None:
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
        tree = self.source.section(self.path)
        trees = () if tree is None else (tree, *tree.merged)
        written = [entry.name for each in trees for entry in each.entries if entry.name]
        before = f"{self.path}." if self.path else ""
        given = (name.removeprefix(before) for name in self.overrides if name.startswith(before))
        return list(dict.fromkeys([*written, *(name for name in given if "." not in name)]))


@frozen(eq=False, slots=False)
class Given(Holder):
    """Settings that an expression gives: a display, the keywords of a call, the fields of a class.

    None stands for a value that is not known.
    """

    values: Mapping[str, Known | None]

    def has(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str) -> Known | None:
        return self.values.get(name)

    def names(self) -> list[str]:
        return list(self.values)


@frozen(slots=False)
class CommandLine(Holder):
    """The words of a command line, or those of a section: `--train.bf16` for `train`.

    `read` gives a word, as the parser reads it that takes something for the default; `has` tells
    whether there is one, or may be.
    """

    words: Words
    path: str = ""

    def has(self, name: str) -> bool:
        return self.words.has(self._whole(name))

    def get(self, name: str, default: Known | None = None) -> Known | None:
        whole = self._whole(name)
        if self.words.is_section(whole):
            return Known(replace(self, path=whole))
        return self.words.read(whole, default)

    def _whole(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name


class Words(Protocol):
    """How a library reads the words of a command line."""

    def has(self, name: str) -> bool:
        """True if a word gives a setting, or may do so."""

    def is_section(self, name: str) -> bool:
        """True if words give settings below a name."""

    def read(self, name: str, default: Known | None) -> Known | None:
        """What a word gives to a setting with a default; None if that is not known."""


@frozen(slots=False)
class Layers(Holder):
    """Settings over settings, the strongest first. Sections are merged, or replaced as well."""

    parts: tuple[Holder, ...]
    is_merged: bool = True

    def has(self, name: str) -> bool:
        return any(part.has(name) for part in self.parts)

    def get(self, name: str) -> Known | None:
        sections: list[Holder] = []
        for index, part in enumerate(self.parts):
            if not part.has(name):
                continue
            if isinstance(part, CommandLine):
                known = part.get(name, Layers(self.parts[index + 1 :]).get(name))
            else:
                known = part.get(name)
            if known is None or not isinstance(known.value, Holder) or not self.is_merged:
                return known if not sections else None
            sections.append(known.value)
        return Known(Layers(tuple(sections))) if sections else None

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for part in self.parts for name in part.names()))


Value: TypeAlias = "str | bool | int | float | Holder | Items | object | None"


def _is_same(one: Value, other: Value) -> bool:
    """True for two objects that hold the same settings."""
    match one, other:
        case (Options(), Options()):
            return True
        case (Settings(), Settings()):
            return one.source.root is other.source.root and one.path == other.path
        case (Layers(), Layers()):
            if len(one.parts) != len(other.parts) or one.is_merged is not other.is_merged:
                return False
            return all(map(_is_same, one.parts, other.parts))
    return one is other or one == other


@frozen
class Known:
    """A value that a run gives, and the setting that it comes from: none for a constant.

    It `is_direct` if the program hands on what is written, and does not work it out. What a program
    makes of a path by opening it `is_opened`: the text of the value is still that of the path.
    """

    value: Value
    written: Occurrence | None = None
    is_direct: bool = True
    is_opened: bool = False

    def derived(self, value: Value) -> Known:
        """Another value that is worked out from this one."""
        return replace(self, value=value, is_direct=False)

    @property
    def is_plain(self) -> bool:
        """True for a value, and not for an object that holds some."""
        return isinstance(self.value, str | bool | int | float)


def truth(known: Known | None) -> bool | None:
    """Whether a value counts as true; None if it is not known."""
    if known is None or isinstance(known.value, Holder | Items):
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
        if isinstance(first.value, Holder) or isinstance(other.value, Holder):
            if not _is_same(first.value, other.value):
                return None
        elif not equal(first.value, other.value):
            return None
    return first
