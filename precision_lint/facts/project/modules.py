"""The Python files of a project, each parsed once."""

from __future__ import annotations

import gc
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet

from precision_lint.project import disk

if TYPE_CHECKING:
    from precision_lint.source.python.parse import ParsedPython
    from precision_lint.source.text.errors import Unparsable
    from precision_lint.source.text.text import SourceText

LARGEST = 1_000_000
"""Bytes; larger Python files are generated tables and not useful."""

_KEPT = 5_000_000
"""Characters of the files whose trees are kept; a tree takes thirty times as many bytes."""

_MOST_DROPPED = 50_000_000
"""Characters of the files whose trees are dropped before garbage is collected."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What parsing a text gave: a file, or why there is none."""

    text: SourceText
    parsed: ParsedPython | None
    problem: Unparsable | None

    @property
    def size(self) -> int:
        return len(self.text.text)


class ParsedModules:
    """The Python files that were parsed last: whoever asks for one gets the same tree.

    A run over more than `_KEPT` characters may parse a file again, and holds no more trees.
    """

    def __init__(self) -> None:
        self._read: OrderedDict[Path, _Read] = OrderedDict()
        self._size = 0
        self._dropped: WeakSet[ParsedPython] = WeakSet()
        """The files whose trees are no longer kept; the file being checked may still use them."""
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
        """Free the trees that were dropped: nobody uses them from now on.

        Some of their nodes may be a part of cycles, which are looked for after many of them.
        """
        with self._lock:
            dropped, self._dropped = self._dropped, WeakSet()
        for parsed in dropped:
            parsed.forget()
        if self._uncollected > _MOST_DROPPED:
            gc.collect()
            self._uncollected = 0

    def _kept(self, path: Path) -> _Read | None:
        with self._lock:
            if path in self._read:
                self._read.move_to_end(path)
            return self._read.get(path)

    def _keep(self, read: _Read) -> None:
        if read.size > LARGEST:
            return
        with self._lock:
            replaced = self._read.pop(read.text.path, None)
            self._read[read.text.path] = read
            self._size += read.size - (replaced.size if replaced else 0)
            while self._size > _KEPT:
                dropped = self._read.popitem(last=False)[1]
                self._size -= dropped.size
                self._uncollected += dropped.size
                if dropped.parsed is not None:
                    self._dropped.add(dropped.parsed)


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
