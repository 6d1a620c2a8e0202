"""What is kept of each file for the indexes of a project: the words of its imports, for example.

A record follows from the content of one file alone. So an index is made of records without reading
files that did not change, and an edit that leaves the records of a file as they were changes no
answer that follows from an index.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from precision_lint.project import disk


class Kind(NamedTuple):
    """How a record is made of the path and the content of a file, and of an argument."""

    make: Callable[[Path, bytes, str], str]
    largest: int = disk.ANY_SIZE
    """Bytes; a larger file has the record of an empty one, and so has one that cannot be read."""


_KEPT = 4 << 20
"""Bytes of files that are kept for further records."""

Record = tuple[str, str, str]
"""The key of a record (its kind and argument), a path, and what is kept."""


class Records:
    """The records of the files of a project, each made once."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._kinds = kinds
        self._known: dict[str, dict[str, str]] = {}
        self._new: list[Record] = []
        self._contents: dict[Path, bytes] = {}
        """What was read last: the patterns of all frameworks are looked for in the same files."""
        self._size = 0
        self._stored: Mapping[str, Mapping[str, str]] = {}
        self._changed: Container[str] = frozenset()

    def of(self, kind: str, path: Path, argument: str = "") -> str:
        """The record of a file."""
        key = f"{kind}\n{argument}"
        known = self._known.setdefault(key, {})
        name = str(path)
        found = known.get(name)
        if found is None:
            found = known[name] = self._found(key, name, path)
        return found

    def trust(self, stored: Mapping[str, Mapping[str, str]], changed: Container[str]) -> None:
        """Files that did not change have the records that were stored, by their keys."""
        self._stored, self._changed = stored, changed

    def is_same(self, key: str, name: str) -> bool:
        """True if a file has the record that was stored; nobody depends on what was not."""
        before = self._stored.get(key, {}).get(name)
        kind, _, argument = key.partition("\n")
        return before is None or before == self.of(kind, Path(name), argument)

    def taken(self) -> list[Record]:
        """The records that were made since this was called before."""
        new, self._new = self._new, []
        return new

    def add(self, records: list[Record]) -> None:
        """Records that a worker made."""
        for key, name, found in records:
            self._known.setdefault(key, {})[name] = found

    def all(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """All that is known, by key."""
        for key in {**self._stored, **self._known}:
            before = self._stored.get(key, {}).items()
            kept = {name: found for name, found in before if name not in self._changed}
            yield key, {**kept, **self._known.get(key, {})}

    def _content(self, path: Path, largest: int) -> bytes:
        """The bytes of a file; none if it cannot be read, or is larger."""
        content = self._contents.get(path)
        if content is not None:
            return content if len(content) <= largest else b""
        try:
            content = disk.read(path, largest)
        except OSError:
            return b""
        self._size += len(content)
        if self._size > _KEPT:
            self._contents.clear()
            self._size = len(content)
        self._contents[path] = content
        return content

    def _found(self, key: str, name: str, path: Path) -> str:
        if name not in self._changed:
            before = self._stored.get(key, {}).get(name)
            if before is not None:
                return before
        kind, _, argument = key.partition("\n")
        make, largest = self._kinds[kind]
        found = make(path, self._content(path, largest), argument)
        self._new.append((key, name, found))
        return found
