"""Where settings are written together: a mapping, a command, an environment.

A source answers for names of settings, dotted from its root, whatever its format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol, TypeAlias

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.table import Framework, Key
from precision_lint.model.finding import Place, Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import cached_property
from precision_lint.model.regex import regex
from precision_lint.source.config import settings_tree as tree
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option, assignments, options, pairs
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import UNKNOWN

Origin: TypeAlias = "tree.Member | Option | Assigned | CodePlace"

_INTERPOLATION = regex(r"\$\{([\w.-]+)\}")
_MAX_HOPS = 8
_MOST_SECTIONS = 1_000


@frozen
class CodePlace:
    """Where something is decided that is no setting by itself, and how a report calls that."""

    span: Span
    note: str = "the program sets it here"


DEFAULT = "the default"
"""How a report calls the place where an option is declared that nothing gives."""


@frozen
class Occurrence:
    """A value as its format's loader reads it, and where it is written.

    The value is None if it is unknown or null, a mapping of the tree if there is one.
    """

    name: str
    value: object
    origin: Origin
    file: ParsedConfig
    is_word: bool = False
    """It is a word of a command line, which the program still has to parse."""
    is_derived: bool = False
    """The program works the value out from what is written, under another name or from another."""
    used_at: Related | None = None
    """The place in the program that gets it."""
    reason: str = ""
    """Why nothing is known to read it."""
    is_in_vain: bool = False
    """Nothing of the project reads it, as the reason says."""

    @property
    def elsewhere(self) -> Place | None:
        """Its place in a file that the script sources; None if the script itself contains it."""
        match self.origin:
            case Assigned(elsewhere=place):
                return place
            case Option(words=words):
                return next((word.elsewhere for word in words if word.elsewhere is not None), None)
        return None

    @property
    def sourced_from(self) -> Path | None:
        """The file that a script sources it from."""
        place = self.elsewhere
        return place.path if place is not None else None

    @property
    def is_replaceable(self) -> bool:
        """True if its value is a default of a script, which the caller's environment may replace:
        `${PRECISION:-bf16}`.
        """
        script = self.file.script
        if script is None or not script.assumed:
            return False
        match self.origin:
            case Option(traced=text) | Assigned(text=text):
                taken = [span for spans in script.assumed.values() for span in spans]
                return any(span.start <= at < span.end for at in text.origins for span in taken)
        return False

    def is_beside(self, other: Occurrence) -> bool:
        """True if both are in one file."""
        return self.file.text is other.file.text and self.sourced_from == other.sourced_from


class Source(Protocol):
    """Settings that are written in one place."""

    @property
    def file(self) -> ParsedConfig: ...

    @property
    def span(self) -> Span: ...

    def get(self, name: str) -> Occurrence | None:
        """What is written for a dotted name; None if nothing is."""

    def all(self, name: str) -> Iterator[Occurrence]:
        """Everything that is written for a dotted name, what counts first."""

    def may_define(self, key: Key) -> bool:
        """True if something that cannot be read may set what is not written here."""


@frozen(eq=False, slots=False)
class MappingSource:
    """A mapping of a YAML, JSON, TOML or Python file, or of several that are composed."""

    whole: ParsedConfig
    root: tree.Mapping
    flat: bool = False

    @property
    def file(self) -> ParsedConfig:
        return self.whole.home(self.root)

    @property
    def span(self) -> Span:
        return self.root.span

    @property
    def section_name(self) -> str | None:
        """The dotted name of the mapping in its file, empty for a document; None in a list."""
        pending = [(document, "") for document in self.whole.documents]
        for value, name in pending:  # grows
            if value is self.root:
                return name
            if isinstance(value, tree.Mapping) and len(pending) < _MOST_SECTIONS:
                pending += (
                    (entry.value, f"{name}.{entry.name}".lstrip("."))
                    for entry in value.entries
                    if entry.name and isinstance(entry.value, tree.Mapping)
                )
        return None

    def has(self, name: str) -> bool:
        """True if anything is written for a dotted name."""
        return self.member(name) is not None

    def get(self, name: str) -> Occurrence | None:
        member = self.member(name)
        return self._written(name, member) if member else None

    def all(self, name: str) -> Iterator[Occurrence]:
        first = self.member(name)
        if first is None:
            return
        is_root = first.entry.name in _spellings(name)
        outer = self.root if is_root else self.section(name.rpartition(".")[0])
        others = outer.all(first.entry.name or "") if outer else iter(())
        for member in (first, *(other for other in others if other.entry is not first.entry)):
            if written := self._written(name, member):
                yield written

    def member(self, name: str) -> tree.Member | None:
        """The entry that a dotted name leads to."""
        member = self._in_sections(name) or _member(self.root, name)
        if member is not None:
            return member
        head, _, rest = name.partition(".")
        if not rest:
            return None
        outer = _member(self.root, head)
        if outer is None or not isinstance(outer.entry.value, tree.Mapping):
            return None
        return MappingSource(self.whole, outer.entry.value).member(rest)

    def _in_sections(self, name: str) -> tree.Member | None:
        """The entry of a flat file in the last section that has it."""
        entries = reversed(self.root.entries) if self.flat else ()
        sections = (entry.value for entry in entries if isinstance(entry.value, tree.Mapping))
        return next(filter(None, (_member(section, name) for section in sections)), None)

    def section(self, name: str) -> tree.Mapping | None:
        """The mapping that a dotted name leads to."""
        if not name:
            return self.root
        member = self.member(name)
        value = member.entry.value if member else None
        return value if isinstance(value, tree.Mapping) else None

    def may_define(self, key: Key) -> bool:
        if _is_open(self.root):
            return True
        outer = key.name.rpartition(".")[0]
        member = self.member(outer) if outer else None
        return member is not None and (
            isinstance(member.entry.value, tree.Opaque)
            or (isinstance(member.entry.value, tree.Mapping) and _is_open(member.entry.value))
        )

    def _written(self, name: str, member: tree.Member, hops: int = 0) -> Occurrence | None:
        match member.entry.value:
            case tree.Scalar(value=value):
                pass
            case tree.Mapping() as mapping:
                value = mapping
            case tree.Opaque(content=tree.Scalar(value=str(text))) if hops < _MAX_HOPS and (
                place := _INTERPOLATION.fullmatch(text)
            ):
                # OmegaConf looks from the root of the file, which may lie above this mapping.
                found = [_deep(root, place[1]) for root in self.whole.documents]
                target = next((one for one in found if one is not None), None)
                meant = self._written(name, target, hops + 1) if target is not None else None
                value = meant.value if meant else None
            case _:
                value = None
        home = self.whole.home(member.entry if member.entry in self.whole.homes else member.mapping)
        return Occurrence(name, value, member, home)


def _member(mapping: tree.Mapping, name: str) -> tree.Member | None:
    return next(filter(None, map(mapping.get, _spellings(name))), None)


def _spellings(name: str) -> tuple[str, ...]:
    """A key as it is, and as the option of that name: `fp8_format`, `--fp8-format`."""
    return name, f"--{name}", f"--{name.replace('_', '-')}"


def _deep(value: tree.Value, name: str) -> tree.Member | None:
    member = None
    for part in name.split("."):
        member = value.get(part) if isinstance(value, tree.Mapping) else None
        if member is None:
            return None
        value = member.entry.value
    return member


def _is_open(mapping: tree.Mapping) -> bool:
    """True if the mapping merges what is not known, or has keys that are not."""
    return mapping.is_open or any(
        not isinstance(entry.key, tree.Scalar)
        or (
            entry.key.value is tree.Merge.KEY
            and not isinstance(entry.value, tree.Mapping | tree.Sequence)
        )
        for entry in mapping.entries
    )


@frozen(eq=False, slots=False)
class CommandSource:
    """The options of a program that a command starts. A later option beats an earlier one."""

    file: ParsedConfig
    framework: Framework
    words: tuple[Word, ...]
    launch: Launch
    program: str = ""
    """The text of the program, if it is in the project."""

    @cached_property
    def given(self) -> Mapping[str, Occurrence]:
        """The options by their names."""
        return {written.name: written for written in self._all}

    @property
    def span(self) -> Span:
        return self.launch.span

    def get(self, name: str) -> Occurrence | None:
        return self.given.get(name)

    def all(self, name: str) -> Iterator[Occurrence]:
        return (written for written in reversed(self._all) if written.name == name)

    def may_define(self, key: Key) -> bool:
        """Unknown words may be options; the program may set what is not given."""
        return self._has_unknown_words or any(
            _sets(self.program, name) for name in (key.name, *key.aliases)
        )

    @cached_property
    def _has_unknown_words(self) -> bool:
        values = {id(word) for option in self._options for word in option.words[1:]}
        return any(
            UNKNOWN in word.text.partition("=")[0]
            for word in self.words
            if _may_be_option(word) and not (id(word) in values and self._is_one(word))
        )

    def _is_one(self, word: Word) -> bool:
        """True if a word stays one for any values of its variables: `"$DIR"`, `$DIR/ds.json`."""
        return "/" in word.text or (word.verbatim and self.file.text[word.span].startswith('"'))

    @cached_property
    def _options(self) -> tuple[Option, ...]:
        return tuple(options(self.words))

    @cached_property
    def _all(self) -> tuple[Occurrence, ...]:
        """What the words set, in their order."""
        return tuple(self._read())

    def _read(self) -> Iterator[Occurrence]:
        for option in self._options:
            name = option.name.replace("-", "_")
            negated = self.framework.negation
            if negated and name.startswith(negated) and option.value is True:
                yield Occurrence(name.removeprefix(negated), False, option, self.file)
            else:
                yield Occurrence(name, option.value, option, self.file, is_word=True)
        for named, read in (
            (self.framework.assignments, assignments),
            (self.framework.pairs, pairs),
        ):
            for option in read(self.words) if named else ():
                yield Occurrence(option.name, option.value, option, self.file, is_word=True)


def _may_be_option(word: Word) -> bool:
    return word.text.startswith((UNKNOWN, "--"))


@lru_cache(maxsize=4096)
def _sets(program: str, name: str) -> bool:
    """True if a program mentions a setting in a way that may set it: `args.fp16 = True`."""
    if name not in program:  # the plain search is many times faster, and most end here
        return False
    escaped = re.escape(name)
    return bool(re.search(rf"\b{escaped}\b\s*(?::[^=\n]+)?=[^=]|[\"']{escaped}[\"']", program))


@frozen(eq=False, slots=False)
class OverrideSource(CommandSource):
    """The words `trainer.precision=16` of a command line, which Hydra puts over its files."""

    section: str = ""
    """The section of the files that is read."""

    def _read(self) -> Iterator[Occurrence]:
        before = f"{self.section}." if self.section else ""
        for option in assignments(self.words):
            if option.name.startswith(before):
                name = option.name.removeprefix(before)
                yield Occurrence(name, typed(option.value), option, self.file)


def typed(word: str | bool | None) -> object:
    """A word as YAML reads it: a boolean, a number, or a text."""
    if not isinstance(word, str):
        return word
    if word in ("true", "True", "false", "False"):
        return word.lower() == "true"
    if word in ("null", "~", ""):
        return None
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


@frozen(eq=False, slots=False)
class EnvironmentSource:
    """Variables that become settings, and the one that holds further options."""

    file: ParsedConfig
    framework: Framework
    variables: Mapping[str, Assigned]
    names: Mapping[str, str]
    further: CommandSource | None = None

    @property
    def span(self) -> Span:
        return min(assigned.span for assigned in self.variables.values())

    def get(self, name: str) -> Occurrence | None:
        return next(self.all(name), None)

    def all(self, name: str) -> Iterator[Occurrence]:
        if self.further:
            yield from self.further.all(name)
        for variable, key in self.names.items():
            if key == name and (assigned := self.variables.get(variable)):
                text = assigned.text.chars.strip()
                value = None if UNKNOWN in text else text
                yield Occurrence(variable, value, assigned, self.file, is_word=True)

    def may_define(self, key: Key) -> bool:
        """An environment is never all that there is."""
        return True


@frozen(eq=False, slots=False)
class CallSource:
    """What a run gives to a call in its program: the arguments that its settings decide.

    `file` is the script that starts the run, or the file of the program if nothing does.
    """

    file: ParsedConfig
    span: Span
    launch: Launch | None
    given: Mapping[str, Occurrence]
    code: ParsedConfig
    call: Span
    """The call, in the file `code`."""
    settings: tuple[Occurrence, ...] = ()
    """The settings that decide whether the call is made, or, of roles, what they are."""
    only_if: str = ""
    """A condition on the way to the call of which it is not known whether the run fulfills it."""

    def get(self, name: str) -> Occurrence | None:
        return self.given.get(name)

    def all(self, name: str) -> Iterator[Occurrence]:
        if written := self.given.get(name):
            yield written

    def may_define(self, key: Key) -> bool:
        """What is left open is said by the call itself."""
        return False

    @property
    def files(self) -> Iterator[Path]:
        """The files that take part."""
        yield from (self.file.text.path, self.code.text.path)
        for written in self.given.values():
            yield written.file.text.path
            if (path := written.sourced_from) is not None:
                yield path


@frozen(eq=False, slots=False)
class RolesSource(CallSource):
    """What a program makes of the settings of a run, by what it is for: `autocast`, `scaler`."""

    is_declared: bool = False
    """The settings are options that the program itself declares, with their defaults."""


def launch_of(source: Source) -> Launch | None:
    """The launch that gives a source, if one does."""
    return source.launch if isinstance(source, CommandSource | CallSource) else None


def names_in(source: MappingSource) -> frozenset[str]:
    """The keys at the root of a mapping, as tables name them; in a flat file, all keys."""
    values = [entry.value for entry in source.root.entries] if source.flat else []
    sections = (value for value in values if isinstance(value, tree.Mapping))
    sources: Iterable[tree.Mapping] = (source.root, *source.root.merged, *sections)
    return frozenset(name.removeprefix("--") for mapping in sources for name in mapping.names)
