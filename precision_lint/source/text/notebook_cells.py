"""The code cells of a notebook, with the place of every string of their sources in the JSON.

Only what is needed is looked at one by one; outputs, often megabytes of images, are passed over by
the JSON decoder of the standard library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from precision_lint.model.finding import Edit, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.text.errors import Unparsable, merge_conflict
from precision_lint.source.text.text import SourceText

_BLANKS = regex(r"[ \t\r\n]*")
_CHARACTER = regex(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]",
    re.DOTALL,
)
# Numbers are not looked at, and an integer may be longer than Python converts.
_DECODER = json.JSONDecoder(parse_int=float)

Members: TypeAlias = dict[str, "tuple[int, int]"]
"""The offsets at which the values of an object start and end, by key."""


@frozen
class Source:
    """The text of a cell, and the JSON strings that make it up, quotes included."""

    texts: tuple[str, ...]
    strings: tuple[Span, ...]
    is_list: bool

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def offset(self, json_text: str, offset: int) -> int:
        """Where a character of the text stands in the JSON."""
        index = 0
        while offset >= len(self.texts[index]) and index + 1 < len(self.texts):
            offset -= len(self.texts[index])
            index += 1
        start, end = self.strings[index].start + 1, self.strings[index].end - 1
        if end - start == len(self.texts[index]):  # nothing is escaped
            return start + offset
        return start + sum(map(len, _CHARACTER.findall(json_text, start, end)[:offset]))

    def edit(self, json_text: str, edits: list[Edit]) -> Edit:
        """The edits of the text as one edit of the JSON. What they do not touch stays as written.

        A list has a string for each line, and has one after the edits, too.
        """
        strings = [
            _String(
                json_text[self.strings[index - 1].end : span.start] if index else "",
                _CHARACTER.findall(json_text, span.start + 1, span.end - 1),
            )
            for index, span in enumerate(self.strings)
        ]
        separator = self._separator(json_text)
        # Jupyter writes characters as they are; who escapes some has to escape them all.
        escapes = json_text.isascii() and "\\u" in json_text
        changes = [edit for edit in edits if edit.content or edit.span.start < edit.span.end]
        for edit in sorted(changes, key=lambda edit: edit.span, reverse=True):
            content = json.dumps(edit.content, ensure_ascii=escapes)[1:-1]
            self._apply(strings, edit.span, _CHARACTER.findall(content), separator)
        whole = Span(self.strings[0].start, self.strings[-1].end)
        return _narrowed(json_text, whole, "".join(map(str, strings)))

    def _apply(
        self, strings: list[_String], span: Span, content: list[str], separator: str
    ) -> None:
        first, start = _locate(strings, span.start, is_end=False)
        last, end = first, start
        if span.start < span.end:
            last, end = _locate(strings, span.end, is_end=True)
        lines = _lines(content) if self.is_list else [content]
        lines[0] = strings[first].characters[:start] + lines[0]
        lines[-1] = lines[-1] + strings[last].characters[end:]
        others = len(strings) - (last + 1 - first)
        if not lines[-1] and others + len(lines) > 1:
            lines.pop()  # a line that is gone takes its string with it
        gaps = [strings[first].gap, *[separator] * len(lines)]
        strings[first : last + 1] = map(_String, gaps, lines)
        strings[0].gap = ""

    def _separator(self, json_text: str) -> str:
        """What stands between two strings of the list."""
        if len(self.strings) > 1:
            return json_text[self.strings[0].end : self.strings[1].start]
        before = json_text[: self.strings[0].start]
        blanks = before[len(before.rstrip(" \t\r\n")) :]
        return f",{blanks}" if "\n" in blanks else ", "


@dataclass(slots=True)
class _String:
    """A JSON string as characters as they are written, after what parts it from the one before."""

    gap: str
    characters: list[str]

    def __str__(self) -> str:
        return f'{self.gap}"{"".join(self.characters)}"'


def _locate(strings: list[_String], offset: int, *, is_end: bool) -> tuple[int, int]:
    """The string and the index in it of an offset: between two strings the end is in the first."""
    for index, string in enumerate(strings):
        size = len(string.characters)
        if offset < size or (offset == size and (is_end or index + 1 == len(strings))):
            return index, offset
        offset -= size
    raise IndexError(offset)


def _lines(characters: list[str]) -> list[list[str]]:
    lines: list[list[str]] = [[]]
    for character in characters:
        lines[-1].append(character)
        if character == "\\n":
            lines.append([])
    return lines


def _narrowed(text: str, span: Span, content: str) -> Edit:
    """A replacement without what is the same at both of its ends."""
    old = text[span.start : span.end]
    most = min(len(old), len(content))
    front = next((i for i in range(most) if old[i] != content[i]), most)
    most -= front
    back = next((i for i in range(most) if old[-1 - i] != content[-1 - i]), most)
    return Edit(Span(span.start + front, span.end - back), content[front : len(content) - back])


@frozen
class CodeCell:
    """A code cell; its number counts all cells of the notebook, from 1. Its language is a name."""

    number: int
    language: str
    source: Source


def code_cells(text: SourceText) -> list[CodeCell]:
    """The code cells of a notebook that have a text, whatever its format is.

    Raises:
        Unparsable: it is not valid JSON, or not a notebook.
    """
    try:
        return list(_Reader(text.text).cells())
    except json.JSONDecodeError as error:
        raise _unparsable(text, f"invalid JSON: {error.msg}", error.pos) from None
    except _NoNotebook:
        raise _unparsable(text, "not a notebook: it has no cells", 0) from None
    except (RecursionError, MemoryError):
        raise _unparsable(text, "nested too deeply", 0) from None


def _unparsable(text: SourceText, message: str, offset: int) -> Unparsable:
    problem = Unparsable(message, *text.position(min(offset, len(text.text))))
    return merge_conflict(text) or problem


class _NoNotebook(Exception):
    """It is JSON, and something else."""


class _Reader:
    """Walks over the JSON of a notebook as far down as the strings of a source."""

    def __init__(self, text: str) -> None:
        self.text = text

    def cells(self) -> Iterator[CodeCell]:
        start = self._blanks(0)
        if not self.text.startswith("{", start):
            self._skip(start)
            raise _NoNotebook
        members, end = self._members(start)
        if self._blanks(end) != len(self.text):
            raise json.JSONDecodeError("Extra data", self.text, self._blanks(end))
        language = _language(self._value(members, "metadata"))
        lists = [members] if "cells" in members else [*self._objects(members, "worksheets")]
        if not any("cells" in one for one in lists):
            raise _NoNotebook
        cells = (cell for one in lists for cell in self._objects(one, "cells"))
        for number, cell in enumerate(cells, 1):
            if self._value(cell, "cell_type") != "code":
                continue
            # "input" and a language of its own are what notebooks of format 3 have.
            source = self._source(cell.get("source") or cell.get("input"))
            if source is not None:
                own = _language_of_cell(self._value(cell, "metadata"))
                spoken = own or self._value(cell, "language") or language
                yield CodeCell(number, str(spoken).lower(), source)

    def _source(self, place: tuple[int, int] | None) -> Source | None:
        """The strings at a place; None if there is something else, or nothing."""
        if place is None:
            return None
        start, _ = place
        is_list = self.text.startswith("[", start)
        starts = [start for start, _ in self._items(start)] if is_list else [start]
        texts, strings = [], []
        for at in starts:
            if not self.text.startswith('"', at):
                return None
            text, end = _DECODER.raw_decode(self.text, at)
            texts.append(text)
            strings.append(Span(at, end))
        return Source(tuple(texts), tuple(strings), is_list) if strings else None

    def _value(self, members: Members, key: str) -> object:
        return _DECODER.raw_decode(self.text, members[key][0])[0] if key in members else None

    def _objects(self, members: Members, key: str) -> Iterator[Members]:
        """The items of a list, those that are no objects as empty ones."""
        start, _ = members.get(key, (0, 0))
        if key in members and self.text.startswith("[", start):
            for at, _ in self._items(start):
                yield self._members(at)[0] if self.text.startswith("{", at) else {}

    def _items(self, start: int) -> Iterator[tuple[int, int]]:
        """Where the items of the list at `start` stand."""
        at = self._blanks(start + 1)
        while not self.text.startswith("]", at):
            end = self._skip(at)
            yield at, end
            at = self._behind_comma(end, "]")

    def _members(self, start: int) -> tuple[Members, int]:
        """The members of the object at `start`, the last of those with one key, and its end."""
        members: Members = {}
        at = self._blanks(start + 1)
        while not self.text.startswith("}", at):
            if not self.text.startswith('"', at):
                raise json.JSONDecodeError("Expecting property name", self.text, at)
            key, at = _DECODER.raw_decode(self.text, at)
            at = self._blanks(at)
            if not self.text.startswith(":", at):
                raise json.JSONDecodeError("Expecting ':' delimiter", self.text, at)
            at = self._blanks(at + 1)
            end = self._skip(at)
            members[key] = at, end
            at = self._behind_comma(end, "}")
        return members, at + 1

    def _behind_comma(self, end: int, closing: str) -> int:
        """The offset of the next item, or of what closes the list or the object."""
        at = self._blanks(end)
        if self.text.startswith(",", at):
            following = self._blanks(at + 1)
            if not self.text.startswith(closing, following):
                return following
        elif self.text.startswith(closing, at):
            return at
        raise json.JSONDecodeError("Expecting ',' delimiter", self.text, at)

    def _skip(self, start: int) -> int:
        return _DECODER.raw_decode(self.text, start)[1]

    def _blanks(self, start: int) -> int:
        match = _BLANKS.match(self.text, start)
        assert match is not None
        return match.end()


def _language(metadata: object) -> str:
    """The language of a notebook. Without a word on it, it is Python, as Jupyter has it."""
    match metadata:
        case {"language_info": {"name": str(name)}} | {"kernelspec": {"language": str(name)}}:
            return name
    return "python"


def _language_of_cell(metadata: object) -> str:
    """What an editor says of a single cell; empty if nothing does."""
    match metadata:
        case {"vscode": {"languageId": str(name)}}:
            return name
    return ""
