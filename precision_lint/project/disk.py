"""The disk, asked about names and contents that anybody may have written.

Where a side file is expected, a repository can have a FIFO, which blocks its reader, or a link to
/dev/zero, which has no end. A name that code or configuration mentions can be longer than names of
files can be, or contain a null character. Here each of these is an answer, or an OSError.

Whatever is asked here is noted, so that a stored result can be checked: see `model.trace`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from precision_lint.model.trace import saw

LARGEST = 16 << 20
"""Bytes of a side file; no `.gitignore`, configuration or lock file has more."""

LARGEST_CONFIG = 1 << 20
"""Bytes of a configuration that is searched for what it refers to."""

LARGEST_SETTINGS = 1 << 19
"""Bytes of a file that is searched for the values of settings; larger ones are data."""

ANY_SIZE = 1 << 40
"""For files of which all the content is wanted."""

_CHUNK = 1 << 20
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Stamp(NamedTuple):
    """What changes when a file is written."""

    size: int
    modified: int
    number: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


class Unsuitable(OSError):
    """Something with the name of a file that is no regular file, or is too large."""


def read(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a regular file.

    Raises:
        OSError: it cannot be read.
        Unsuitable: it is no regular file, or has more than `largest` bytes.
    """
    try:
        status = path.stat()
        saw(("read", path), Stamp.of(status))
        _check(status)  # opening a device can have an effect
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:  # a null character
        saw(("read", path), None)
        raise OSError(errno.EINVAL, str(error)) from error
    except OSError:
        saw(("read", path), None)
        raise
    with open(descriptor, "rb") as stream:
        size = _check(os.fstat(descriptor))
        content = stream.read(min(size, largest) + 1) or b""
        # It grows, or it is a file under /proc: those show no size, and some have no end.
        while size < len(content) <= largest and (more := stream.read(_CHUNK)):
            content += more
    if len(content) > largest:
        raise Unsuitable(errno.EFBIG, f"larger than {largest:,} bytes")
    return content


def is_file(path: Path) -> bool:
    """True for a regular file, or a link to one; no name raises."""
    answer = os.path.isfile(path)
    saw(("is_file", path), answer)
    return answer


def is_folder(path: Path) -> bool:
    """True for a folder, or a link to one; no name raises."""
    answer = os.path.isdir(path)
    saw(("is_folder", path), answer)
    return answer


def leads_out_of(folder: Path, path: Path) -> bool:
    """True for a link in a folder to a file that is outside of it."""
    return os.path.islink(path) and not Path(os.path.realpath(path)).is_relative_to(
        os.path.realpath(folder)
    )


def is_special(path: Path) -> bool:
    """True for a FIFO, a device and the like: what is there and is neither file nor folder."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def names_in(folder: Path) -> frozenset[str]:
    """The names in a folder; none if it cannot be listed."""
    try:
        names = frozenset(os.listdir(folder))
    except (OSError, ValueError):
        names = frozenset()
    saw(("names_in", folder), names)
    return names


def stamp(path: Path) -> Stamp | None:
    """What changes when a file is written; None if there is none."""
    try:
        return Stamp.of(os.stat(path))
    except (OSError, ValueError):
        return None


def size(path: Path) -> int:
    """The bytes of what is at a path.

    Raises:
        OSError: there is nothing.
    """
    found = state(path)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return found.size


def state(path: Path) -> Stamp | None:
    """The stamp of a file for who knows what is in it; noted as if it was read."""
    found = stamp(path)
    saw(("read", path), found)
    return found


def matching(folder: Path, pattern: str) -> list[Path]:
    """What stands below a folder under a name like `requirements/**/*.txt`, in path order."""
    return sorted({*_matching(folder, pattern.split("/"))})


def _matching(folder: Path, parts: list[str]) -> Iterator[Path]:
    first, rest = parts[0], parts[1:]
    if first == "**":
        yield from _matching(folder, rest)
        for below in _folders_in(folder):
            yield from _matching(below, parts)
        return
    found: Iterable[str] = (name for name in names_in(folder) if fnmatchcase(name, first))
    if not rest:
        yield from (folder / name for name in found)
    for name in found if rest else ():
        yield from _matching(folder / name, rest)


def _folders_in(folder: Path) -> list[Path]:
    """The folders in a folder that are no links: loops are impossible."""
    below = (folder / name for name in names_in(folder))
    return [path for path in below if is_folder(path) and not os.path.islink(path)]


def _check(status: os.stat_result) -> int:
    """The size of a regular file."""
    if not stat.S_ISREG(status.st_mode):
        raise Unsuitable(errno.EINVAL, "not a regular file")
    return status.st_size
