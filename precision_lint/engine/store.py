"""The store on disk: one file for each project and set of settings, of sections that can be read
one by one.

It starts with a line of JSON: the place, length and digest of each section. A section is compressed
JSON. Whatever is not as it was written is no section: the files are linted again.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from precision_lint.model.regex import regex
from precision_lint.project import disk

_MAGIC = b"precision-lint store 1\n"
_LONGEST_HEAD = 4096
_LARGEST_SECTION = 1 << 29
"""Bytes of a section once it is decompressed."""
_MOST_BYTES = 256 << 20
"""Of all the files of the store together; the oldest ones go first."""
_LEVEL = 1
_OURS = regex(r"[0-9a-f]{24}\.store")


class Unreadable(Exception):
    """There is no such section, or not as it was written."""


class StoreFile:
    """A file of the store, of which sections are read when they are needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._content: bytes | None = None

    def exists(self) -> bool:
        """True if something was stored before."""
        return disk.is_file(self.path)

    def section(self, name: str) -> Any:
        """A section as it was written.

        Raises:
            Unreadable: there is none.
        """
        content = self._read()
        try:
            end = content.index(b"\n", len(_MAGIC), _LONGEST_HEAD)
            start, length, digest = json.loads(content[len(_MAGIC) : end])[name]
            section = content[end + 1 + start : end + 1 + start + length]
            if _digest(section) != digest:
                raise Unreadable(name)
            unpacking = zlib.decompressobj()
            plain = unpacking.decompress(section, _LARGEST_SECTION)
            return json.loads(plain)
        except (ValueError, KeyError, TypeError, zlib.error, RecursionError) as error:
            raise Unreadable(name) from error

    def write(self, sections: Mapping[str, Any]) -> None:
        """Replace the file; one that cannot be written is not an error."""
        from precision_lint.engine.writing import replace

        head, start, packed = {}, 0, []
        for name, value in sections.items():
            text = json.dumps(value, separators=(",", ":"))
            section = zlib.compress(text.encode("ascii"), _LEVEL)
            head[name] = (start, len(section), _digest(section))
            start += len(section)
            packed.append(section)
        content = b"".join([_MAGIC, json.dumps(head).encode(), b"\n", *packed])
        if len(content) > _MOST_BYTES:
            return
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make_room(self.path.parent, len(content))
            replace(self.path, content)
        self._content = None

    def _read(self) -> bytes:
        if self._content is None:
            try:
                content = disk.read(self.path, _MOST_BYTES)
            except OSError as error:
                raise Unreadable(self.path) from error
            if not content.startswith(_MAGIC):
                raise Unreadable(self.path)
            self._content = content
        return self._content


def _digest(section: bytes) -> str:
    return hashlib.blake2b(section, digest_size=16).hexdigest()


def _make_room(folder: Path, size: int) -> None:
    """Remove the files that were written longest ago, if all together take too much room."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if _OURS.fullmatch(entry.name):
                    found.append((status.st_mtime_ns, status.st_size, entry.path))
    total = size + sum(length for _, length, _ in found)
    for _, length, path in sorted(found):
        if total <= _MOST_BYTES:
            return
        with suppress(OSError):
            os.unlink(path)
        total -= length
