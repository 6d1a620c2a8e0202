"""What a framework makes of a configuration: its effective settings by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import islice
from pathlib import Path

from precision_lint.facts.frameworks.sources import (
    CallSource,
    CodePlace,
    CommandSource,
    MappingSource,
    Occurrence,
    Source,
)
from precision_lint.facts.frameworks.table import Framework, Key, Link
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.source.config.config_file import ParsedConfig


@frozen
class Setting:
    """A setting as the framework reads it, and where it is written: nowhere, for a default.

    The value is None if it is unknown: null, a placeholder, anything chosen at run time.
    """

    key: Key
    value: object
    written: Occurrence | None = None

    @property
    def file(self) -> ParsedConfig | None:
        return self.written.file if self.written else None

    @property
    def span(self) -> Span | None:
        return self.written.origin.span if self.written else None

    def related(self, message: str = "") -> Related | None:
        """The place where it is written, for a report."""
        if self.written is None:
            return None
        if not message:
            origin = self.written.origin
            message = (
                origin.note
                if isinstance(origin, CodePlace)
                else f"`{self.written.name}` is set here"
            )
        return Related(self.written.file.text.place(self.written.origin.span), message)


@frozen(eq=False, slots=False)
class EffectiveConfig:
    """One configuration as one framework reads it, with the configurations that it refers to.

    `fallbacks` fills what its own source leaves open, the strongest first. `is_open` says that
    something unknown may set the settings that are absent here, `is_by_keys` that nothing but what
    is in the file shows who reads it, `is_unnamed` that no file of the project names it either,
    `is_described` that pages and comments alone name it, `is_output` that nothing else names it but
    what writes it, `is_by_options` that only the options of a command show who reads them, as its
    program is not in the project, and `is_unread` that the program is not seen to make what reads
    it. `taken_by` is the word of its command line by which a program gets any such file, where only
    its keys say that it is for that program, and `chosen_by` the word that makes Hydra compose it,
    for the program it is `read_by` if that is the only one that is known. `program_at` is the
    started program, if only the end of the path that the command has says which one that is.
    `unless` is a word of the command that stands for others which only run time knows.
    """

    framework: Framework
    source: Source
    links: Mapping[str, EffectiveConfig] = field(default_factory=dict)
    fallbacks: tuple[EffectiveConfig, ...] = ()
    is_open: bool = False
    is_by_keys: bool = False
    is_unnamed: bool = False
    is_described: bool = False
    is_output: bool = False
    is_by_options: bool = False
    is_unread: bool = False
    taken_by: str = ""
    chosen_by: str = ""
    read_by: Path | None = None
    program_at: Path | None = None
    unless: str = ""
    in_vain: Related | None = None
    """Why nobody reads the file, although something names it."""
    given_anyway: Related | None = None
    """Where the started program gives the precision itself, which wins over that of the file."""

    @property
    def file(self) -> ParsedConfig:
        """The file that the reading starts from."""
        return self.source.file

    @property
    def parts(self) -> Iterator[EffectiveConfig]:
        """This reading and all that it refers to."""
        yield self
        for other in (*self.fallbacks, *self.links.values()):
            yield from other.parts

    @property
    def standalone(self) -> Iterator[EffectiveConfig]:
        """The parts that are judged on their own, and do not fill another's gaps."""
        yield self
        for other in self.links.values():
            yield from other.standalone

    @property
    def paths(self) -> frozenset[Path]:
        """The files that settings come from."""
        return frozenset(path for part in self.parts for path in _paths(part.source))

    def key(self, name: str) -> Key:
        """The table's entry for a key; a key of a link is `link:key`."""
        link, _, rest = name.partition(":")
        if rest and link in self.links:
            return self.links[link].key(rest)
        return self.framework.keys.get(name) or Key(name)

    def setting(self, name: str) -> Setting | None:
        """The effective setting; None if nothing sets it and it has no default that is known."""
        link, _, rest = name.partition(":")
        if rest:
            linked = self.links.get(link)
            return linked.setting(rest) if linked else None
        key = self.key(name)
        written = self.written(key)
        if written is not None:
            return Setting(key, interpreted(key, written, self.framework), written)
        if key.default is None or not self.is_closed_for(key):
            return None
        return Setting(key, key.default)

    def switch(self, name: str) -> bool | None:
        """Whether an option of the program itself is on, known to the table or not."""
        setting = self.setting(name)
        value = setting.value if setting else None
        if isinstance(value, str):
            return self.framework.switches.get(value.lower())
        return value if isinstance(value, bool) else None

    def reference(self, name: str) -> Setting | None:
        """The setting that names the linked configuration of a key."""
        link = name.partition(":")[0]
        keys = (each.key for each in self.framework.links if each.name == link and each.key)
        return next((found for key in keys if (found := self.setting(key))), None)

    def written(self, key: Key) -> Occurrence | None:
        """Where a setting is written: the strongest of the places that do."""
        for spelling in (key.name, *key.aliases):
            if written := self.source.get(spelling):
                return written
        for other in self.fallbacks:
            if written := other.written(key):
                return written
        return None

    def overridden(self, key: Key) -> Iterator[Occurrence]:
        """Where a setting is written without effect, the strongest first."""
        return islice(self._all(key), 1, None)

    def _all(self, key: Key) -> Iterator[Occurrence]:
        for spelling in (key.name, *key.aliases):
            yield from self.source.all(spelling)
        for other in self.fallbacks:
            yield from other._all(key)

    def is_closed_for(self, key: Key) -> bool:
        """True if a setting that is written nowhere is certainly not set."""
        return not (self.is_open or self.file.is_excerpt or self._may_define(key))

    def _may_define(self, key: Key) -> bool:
        sources = (self.source, *(other.source for other in self.fallbacks))
        return any(source.may_define(key) for source in sources)

    def is_absent(self, name: str) -> bool:
        """True if nothing sets it, for certain."""
        link, _, rest = name.partition(":")
        if rest:
            linked = self.links.get(link)
            return linked.is_absent(rest) if linked else not self.may_link(link)
        key = self.key(name)
        return self.written(key) is None and self.is_closed_for(key)

    def may_link(self, name: str) -> bool:
        """True if there may be a configuration of that name which was not found."""
        return any(link.name == name and self._mentions(link) for link in self.framework.links)

    def _mentions(self, link: Link) -> bool:
        is_named = bool(link.key) and self.setting(link.key) is not None
        return is_named and self.without(link) is None

    @property
    def unused(self) -> Iterator[tuple[str, Setting, Setting]]:
        """The links that nobody follows: the name, the setting that names the configuration, and
        the one for which nobody reads it.
        """
        for link in self.framework.links:
            reference = self.setting(link.key) if link.needs else None
            why = self.without(link) if reference is not None else None
            if reference is not None and reference.written is not None and why is not None:
                yield link.name, reference, why

    def without(self, link: Link) -> Setting | None:
        """The setting for which nobody reads what a link leads to; None if somebody may."""
        found: Setting | None = None
        for name, value in link.needs.items():
            key = self.key(name)
            written = self.written(key)
            if written is None and (self.is_open or self._may_define(key)):
                return None
            setting = self.setting(name) if written is not None else None
            if setting is not None and setting.value in (None, value):
                return None
            found = found or setting
        return found


def _paths(source: Source) -> Iterator[Path]:
    files = source.whole.parts if isinstance(source, MappingSource) else (source.file,)
    yield from (file.text.path for file in files)
    if isinstance(source, CallSource):
        yield from source.files
    if isinstance(source, CommandSource):
        yield from (word.elsewhere.path for word in source.words if word.elsewhere is not None)


def interpreted(key: Key, written: Occurrence, framework: Framework) -> object:
    """The value as the framework reads it; None if that is unknown."""
    value = written.value
    if written.is_word and key.kind in ("boolean", "number") and isinstance(value, str):
        value = _word(key, value, framework)
    if isinstance(value, str):
        return key.means.get(value.lower(), value)
    return value


def _word(key: Key, word: str, framework: Framework) -> object:
    """A word of a command line as a boolean or a number."""
    if key.kind == "boolean":
        return framework.switches.get(word.lower())
    try:
        number = float(word)
    except ValueError:
        return None
    return int(number) if number.is_integer() and word.lstrip("+-").isdigit() else number
