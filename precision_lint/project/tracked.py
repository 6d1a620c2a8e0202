"""The files that git tracks, as its index says: an ignore pattern has no effect on them.

https://git-scm.com/docs/index-format
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from precision_lint.project import disk

_LARGEST = 64 << 20
_FIXED = 62
"""Bytes of an entry before its name, with an object id of SHA-1."""
_FILE = 0b1000
"""The kind of object that a regular file is; there are links and submodules, too."""
_EXTENDED = 0x4000


def tracked(root: Path) -> list[str]:
    """The names, from the root of a repository, of the regular files that its index lists.

    None without an index.
    """
    try:
        path = _folder(root) / "index"
        if not disk.is_file(path):
            return []
        return [os.fsdecode(name) for name in _names(disk.read(path, _LARGEST))]
    except (OSError, ValueError, IndexError):
        return []


def _folder(root: Path) -> Path:
    """The folder of git: `.git`, or what a file of this name refers to, as in a work tree."""
    path = root / ".git"
    if not disk.is_file(path):
        return path
    text = os.fsdecode(disk.read(path)).strip()
    return root / text.removeprefix("gitdir:").strip()


def _names(content: bytes) -> Iterator[bytes]:
    """The names of the regular files.

    Raises:
        ValueError: this is no index, or one of a kind that is not known.
    """
    version, count = (int.from_bytes(content[at : at + 4], "big") for at in (4, 8))
    if content[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not an index")
    at, name = 12, b""
    for _ in range(count):
        mode = int.from_bytes(content[at + 24 : at + 28], "big")
        flags = int.from_bytes(content[at + 60 : at + 62], "big")
        start = at + _FIXED + 2 * bool(flags & _EXTENDED)
        if version == 4:  # a name says how much of the one before it to drop
            dropped, start = _offset(content, start)
            end = content.index(b"\0", start)
            name = name[: len(name) - dropped] + content[start:end]
            at = end + 1
        else:
            end = content.index(b"\0", start)
            name = content[start:end]
            at += (end - at + 8) & ~7  # with 1 to 8 zeros up to a multiple of 8
        if mode >> 12 == _FILE:
            yield name


def _offset(content: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as in packs, and where it ends."""
    byte = content[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = content[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1
