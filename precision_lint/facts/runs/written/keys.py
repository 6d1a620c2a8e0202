"""The keys of a configuration, and the names that code mentions, by which readers are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.imported_by_name import imported_by_name
from precision_lint.facts.runs.written.loading import FORMATS
from precision_lint.facts.settings.vocabulary import chooses_precision, is_about_precision
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Entry, Mapping, Scalar, Sequence

_KEY = regex(r"[\w-]+")
"""What a program may mention; `images/a.png: [poses/a.mp4]` is data."""
_HANDED_ON = regex(r"kwargs\b")
"""Sections whose keys are the parameters of something else, which need not be in the program."""
_READ = regex(
    r"""["'](?:\w+#)*(\w[\w-]*)["']|\.([A-Za-z_]\w*)|\b([A-Za-z_]\w*)[ \t]*(?:=(?!=)|:)"""
)
_SPREAD = "**"
_SPREADING = r"(?<!def )\b\w+\([^()]*\*\*[a-z]"
"""`Trainer(**config)`: no code mentions the keys that are handed on."""
_FILLING = r"Parser\(\s*[\[(]?\s*[A-Z]"
"""`TrlParser((ScriptArguments, SFTConfig))`: nor the fields of a class of a library."""
VALUES = frozenset({"value", "values", "default"})
"""`precision: {values: [bf16, fp16]}` of a sweep: the section is the setting."""
_LEAST_KEYS = 5
_MOST_KEYS = 400
_MOST_FILES = 60
"""Of a program, the nearest first: what reads its settings is near its start."""
_MOST_BESIDES = 90
"""Of those that it imports by name: registries import all that they offer."""


@frozen(slots=False)
class Keys:
    """The names of the settings of a file that a program mentions, and those about precision."""

    names: frozenset[str] = frozenset()
    precise: frozenset[str] = frozenset()

    def share_in(self, words: frozenset[str]) -> float:
        """The share of them that a program mentions; 0 if it mentions no precision, and hands
        nothing on as a whole.
        """
        is_for = self.precise & words or _SPREAD in words
        return len(self.names & words) / len(self.names) if is_for else 0.0


def keys_of(file: ParsedConfig, project: Recording) -> Keys:
    """The keys of a file; none if it says nothing of precision that code mentions."""
    keys = all_keys(file)
    mentioned = "|".join(map(re.escape, sorted(keys.precise)))
    if not keys.precise or len(keys.names) < _LEAST_KEYS:
        return Keys()
    found = project.python_source_matches
    ways = (rf"\b(?:{mentioned})\b", _SPREADING, _FILLING)
    if not any(found(way.encode()) for way in ways):
        return Keys()
    return keys


@fact
def all_keys(file: ParsedConfig) -> Keys:
    """The keys of a file, whatever code mentions."""
    root = file.documents[0] if file.documents else None
    if not isinstance(root, Mapping) or file.format not in FORMATS:
        return Keys()
    found = [*islice(_entries(root), _MOST_KEYS)]
    names = {
        entry.name
        for entry, section in found
        if entry.name and _KEY.fullmatch(entry.name) and not _HANDED_ON.search(section)
    }
    precise = {entry.name for entry, section in found if entry.name and _is_precise(entry, section)}
    return Keys(frozenset(names), frozenset(precise))


def parts_of(path: Path, project: Recording) -> tuple[Path, ...]:
    """The files of a program that are near its start, and those that it imports by name."""

    def compute() -> tuple[Path, ...]:
        near = islice(project.program(path), _MOST_FILES)
        return (*near, *islice(imported_by_name(path, project), _MOST_BESIDES))

    return project.config_files.once(("parts of a program", path), compute)


def words_of(parts: tuple[Path, ...], project: Recording) -> frozenset[str]:
    """The names that some files read as keys, attributes or arguments."""
    return frozenset[str]().union(*(_mentioned(part, project) for part in parts))


def _mentioned(path: Path, project: Recording) -> frozenset[str]:
    def compute() -> frozenset[str]:
        text = project.config_files.text(path)
        words = {one for match in _READ.finditer(text) for one in match.groups() if one}
        return frozenset(words | {_SPREAD} if re.search(_SPREADING, text) else words)

    return project.config_files.once(("mentioned", path), compute)


def _is_precise(entry: Entry, section: str) -> bool:
    """True for a setting that chooses a precision."""
    name = entry.name or ""
    if isinstance(entry.value, Mapping) and not VALUES.isdisjoint(entry.value.names):
        return is_about_precision(name)
    if not isinstance(entry.value, Scalar):  # `${model.precision}` may be any
        return not isinstance(entry.value, Mapping | Sequence) and is_about_precision(name)
    value = entry.value.value
    section = section.rpartition(".")[2]
    return is_about_precision(name) or chooses_precision(name, value, section)


def _entries(mapping: Mapping, section: str = "") -> Iterator[tuple[Entry, str]]:
    """The entries of a mapping and of the sections below it, each with its section; of a list of
    sections, those of the first one.
    """
    for entry in mapping.entries:
        yield entry, section
        inner = entry.value
        if isinstance(inner, Sequence):
            inner = next(iter(inner.items), inner)
        if isinstance(inner, Mapping):
            yield from _entries(inner, f"{section}.{entry.name or ''}".removeprefix("."))
