"""Returns a fix of settings only if the edited text, parsed again, has the intended change.

The content of a file is a flat list of marks, so that old and new content can be compared in linear
time, even if anchors share nodes many times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Mapping as Table
from dataclasses import field
from itertools import pairwise
from weakref import WeakKeyDictionary

from precision_lint.fixers.python_changes import changed_code
from precision_lint.fixers.spelling import Written
from precision_lint.model.finding import Applicability, Edit, Fix
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.limits import MAX_CHARACTERS
from precision_lint.source.config.parse import parse_config, parse_part
from precision_lint.source.config.settings_tree import (
    Entry,
    Mapping,
    Opaque,
    Scalar,
    Sequence,
    Value,
)
from precision_lint.source.python.parse import parse_python
from precision_lint.source.shell import parse as shell
from precision_lint.source.shell.variables import Word
from precision_lint.source.shell.words import Text
from precision_lint.source.text.comments import comments
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

_MAX_READ = 4 * MAX_CHARACTERS
"""Limit on parsing one file again: a file full of mistakes must not take quadratic time."""

_EXPANDED = regex(r"[$`\\]")

_read: WeakKeyDictionary[ParsedConfig, int] = WeakKeyDictionary()


@frozen
class TreeChange:
    """The intended change of a tree."""

    removed: Collection[Entry] = ()
    replaced: Table[Value, Written] = field(default_factory=dict)
    added: Table[Entry, Entry] = field(default_factory=dict)
    """New entries, by the entry that precedes them."""


@frozen
class ScriptChange:
    """The intended change of a script."""

    becomes: Table[int, str] = field(default_factory=dict)
    """The new text of the characters at some offsets, wherever they are expanded."""
    unset: Collection[str] = ()
    """The variables that are no longer assigned."""


def verified(
    file: ParsedConfig,
    edits: Iterable[Edit],
    change: TreeChange | ScriptChange,
    message: str,
    applicability: Applicability,
) -> Fix | None:
    """The fix, if it does nothing but `change` and loses no comment."""
    edits = tuple(sorted(edits, key=lambda edit: edit.span))
    overlap = any(one.span.end > other.span.start for one, other in pairwise(edits))
    if not edits or overlap or file.defect is not None or not _may_be_read(file):
        return None
    if file.masked and not all(_is_seen(edit, file, file.masked) for edit in edits):
        return None
    if not file.text.takes(edits):
        return None
    text = file.text.edited(edits)
    masked = file.masked.edited(edits) if file.masked else None
    try:
        says = _says(file, text, masked, change)
    except (Unparsable, RecursionError):
        return None
    if not says or _comments_of(file) - _comments(file, text):
        return None
    return Fix(applicability, message, edits)


def _may_be_read(file: ParsedConfig) -> bool:
    _read[file] = _read.get(file, 0) + len(file.text.text)
    return _read[file] <= _MAX_READ


def _is_seen(edit: Edit, part: ParsedConfig, masked: SourceText) -> bool:
    """True for an edit that stays in a part of a file, and means there what it says."""
    is_literal = part.script is not None or not _EXPANDED.search(edit.content)
    return is_literal and masked[edit.span] == part.text[edit.span]


@fact
def _comments_of(file: ParsedConfig) -> Counter[str]:
    return _comments(file, file.text)


def _comments(file: ParsedConfig, text: SourceText) -> Counter[str]:
    return Counter(text[span] for span in comments(text, file.format))


def _says(
    file: ParsedConfig,
    text: SourceText,
    masked: SourceText | None,
    change: TreeChange | ScriptChange,
) -> bool:
    """True if the text differs from the file's only by the change.

    Raises:
        Unparsable: it is not valid.
        RecursionError: it is nested too deeply.
    """
    match change:
        case TreeChange() if file.python is not None:
            removed = {entry.key.span.start for entry in change.removed}
            replaced = {node.span.start: value for node, value in change.replaced.items()}
            meant = changed_code(parse_python(file.text), removed, replaced)
            return meant == changed_code(parse_python(text))
        case TreeChange():
            if masked is None:
                repaired: ParsedConfig | None = parse_config(text, file.format)
            else:
                around = ParsedConfig(text, file.format)
                repaired = parse_part(around, masked.text, file.format)
            if repaired is None or repaired.defect is not None:
                return False
            return [*_tree(file, change)] == [*_tree(repaired, TreeChange())]
        case ScriptChange():
            meant_script = _script(_parsed(file), change)
            return meant_script == _script(_parse(text, masked), ScriptChange())


# Trees


def _tree(file: ParsedConfig, change: TreeChange) -> Iterator[object]:
    """Marks for every node, outer before inner; repeated nodes are only referenced."""
    text = file.masked or file.text
    pending: list[Value | Entry] = [*reversed(file.documents)]
    seen: dict[Value, int] = {}
    while pending:
        node = pending.pop()
        if isinstance(node, Entry):
            pending += [node.value, node.key]
            continue
        if node in seen:
            yield "again", seen[node]
            continue
        seen[node] = len(seen)
        match node:
            case Scalar(value=value):
                yield _literal(change.replaced.get(node, value))
            case Opaque(content=None):
                yield "opaque", text[node.span]
            case Opaque(content=content):
                assert content is not None
                yield "opaque", None
                pending.append(content)
            case Sequence(items=items):
                yield "sequence", len(items)
                pending += reversed(items)
            case Mapping():
                entries = [*_entries(node, change)]
                yield "mapping", len(entries)
                pending += reversed(entries)


def _entries(mapping: Mapping, change: TreeChange) -> Iterator[Entry]:
    for entry in mapping.entries:
        if entry not in change.removed:
            yield entry
        if entry in change.added:
            yield change.added[entry]


def _literal(value: object) -> tuple[str, str]:
    return type(value).__name__, repr(value)


# Scripts


@fact
def _parsed(file: ParsedConfig) -> shell.Script:
    return _parse(file.text, file.masked)


def _parse(text: SourceText, masked: SourceText | None) -> shell.Script:
    """A script without those that it sources: their words have no position in the text.

    Raises:
        Unparsable: a shell would reject it.
    """
    script, defect = shell.parse(text, masked=masked.text if masked else None)
    if defect is not None:
        raise defect
    return script


def _script(script: shell.Script, change: ScriptChange) -> list[object]:
    """Marks for the commands and the variables."""
    marks: list[object] = []
    for command in script.commands:
        words = [each for word in command.words for each in _words(word, change)]
        if words or not command.words:
            marks.append(words)
    for name in sorted(script.variables.keys() - change.unset):
        assigned = script.variables[name]
        elements = [each for word in assigned.elements for each in _words(word, change)]
        marks.append((name, _changed(assigned.text, change).split(), elements))
    return marks


def _words(word: Word, change: ScriptChange) -> Iterator[str]:
    """The replacement of a word: itself, several words, or none."""
    changed = _changed(word.traced, change)
    if changed == word.text or any(map(str.isspace, word.text)):
        yield _joined(changed)
    else:
        yield from map(_joined, changed.split())


def _joined(text: str) -> str:
    """A word, in which the number of spaces does not matter: `X="--a  --b"`."""
    return " ".join(text.replace("=", "= ", 1).split())


def _changed(text: Text, change: ScriptChange) -> str:
    if not change.becomes:
        return text.chars
    pairs = zip(text.chars, text.origins, strict=True)
    return "".join(change.becomes.get(origin, char) for char, origin in pairs)
