"""The Python files of a project, each parsed once."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet

from precision_lint.model.frozen import frozen
from precision_lint.project import disk

if TYPE_CHECKING:
    from precision_lint.source.python.parse import ParsedPython
    from precision_lint.source.text.errors import Unparsable
    from precision_lint.source.text.text import SourceText

LARGEST = 1_000_000
"""Bytes; larger Python files are generated tables and not useful."""

_KEPT = 4_000_000
"""Characters of the files whose trees are kept; a tree takes thirty times as many bytes."""

_MOST_DROPPED = 50_000_000
"""Characters of the files whose trees are dropped before garbage is collected."""


@frozen
class _Read:
    """What parsing a text gave: a file, or why there is none."""

    text: SourceText
    parsed: ParsedPython | None
    problem: Unparsable | None

    @property
    def size(self) -> int:
        return len(self.text.text)


class ParsedModules:
    """The Python files that are parsed: whoever asks for one gets the same tree.

    A run over more than `_KEPT` characters may parse a file again, and holds no more trees. Those
    that were asked for most often are kept longest: many files import the same few.
    """

    def __init__(self) -> None:
        self._read: dict[Path, _Read] = {}
        self._size = 0
        self._asked: Counter[Path] = Counter()
        """How often each file was asked for."""
        self._worth: dict[Path, int] = {}
        """The files that are kept, those that were asked for last at the end: the least is dropped.

        It starts from that of the file that was dropped last, so that what was asked for often in
        another part of the project does not stay for ever.
        """
        self._least = 0
        self._used: set[Path] = set()
        """The files that were asked for since the file that is being checked."""
        self._dropped: WeakSet[ParsedPython] = WeakSet()
        """Those of them whose trees are no longer kept."""
        self._uncollected = 0
        """Characters of the files whose trees were dropped since garbage was collected."""
        self._lock = Lock()

    def parse(self, text: SourceText, *, is_on_disk: bool) -> ParsedPython:
        """Parse a text, unless that was done; it is kept for others if it is what is on the disk.

        Raises:
            Unparsable: see `parse_python`.
        """
        read = self._kept(text.path)
        if read is None or read.text != text:
            read = _parsed(text)
            if is_on_disk:
                self._keep(read)
        return _given(read)

    def read(self, path: Path) -> ParsedPython:
        """The file on the disk.

        Raises:
            OSError, UnicodeError, LookupError: it cannot be read, or is no text.
            Unparsable: see `parse_python`.
        """
        read = self._kept(path)
        if read is None:
            from precision_lint.source.text.text import decode_python

            read = _parsed(decode_python(path, disk.read(path, disk.ANY_SIZE)))
            self._keep(read)
        return _given(read)

    def at(self, path: Path, largest: int = LARGEST) -> ParsedPython | None:
        """The file on the disk; None if it cannot be parsed, or has more than `largest` bytes."""
        from precision_lint.source.text.errors import Unparsable

        try:
            return self.read(path) if disk.size(path) <= largest else None
        except (OSError, UnicodeError, LookupError, Unparsable):
            return None

    def free_dropped(self) -> None:
        """A file is checked: nobody uses what was dropped from now on.

        Some of their nodes may be a part of cycles, which are looked for after many of them.
        """
        with self._lock:
            dropped, self._dropped = self._dropped, WeakSet()
            self._used.clear()
        for parsed in dropped:
            parsed.forget()
        if self._uncollected > _MOST_DROPPED:
            gc.collect()
            self._uncollected = 0

    def _kept(self, path: Path) -> _Read | None:
        with self._lock:
            self._asked[path] += 1
            self._used.add(path)
            read = self._read.get(path)
            if read is not None:
                self._weigh(path)
            return read

    def _weigh(self, path: Path) -> None:
        self._worth.pop(path, None)
        self._worth[path] = self._least + self._asked[path]

    def _keep(self, read: _Read) -> None:
        path = read.text.path
        with self._lock:
            if path in self._read:
                self._drop(path)
            if read.size > min(LARGEST, _KEPT):
                self._let_go(read)
                return
            while self._size + read.size > _KEPT:
                least = min(self._worth, key=self._worth.__getitem__)
                self._least = self._worth[least]
                self._drop(least)
            self._read[path] = read
            self._size += read.size
            self._weigh(path)

    def _drop(self, path: Path) -> None:
        del self._worth[path]
        dropped = self._read.pop(path)
        self._size -= dropped.size
        self._let_go(dropped)

    def _let_go(self, read: _Read) -> None:
        self._uncollected += read.size
        if read.parsed is None:
            return
        if read.text.path in self._used:
            self._dropped.add(read.parsed)
        else:
            read.parsed.forget()


def _parsed(text: SourceText) -> _Read:
    from precision_lint.source.python.parse import parse_python
    from precision_lint.source.text.errors import Unparsable

    try:
        return _Read(text, parse_python(text), None)
    except Unparsable as problem:
        return _Read(text, None, problem)


def _given(read: _Read) -> ParsedPython:
    if read.parsed is not None:
        return read.parsed
    assert read.problem is not None
    raise read.problem
