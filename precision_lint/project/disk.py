"""The disk, asked about names and contents that anybody may have written.

Where a side file is expected, a repository can have a FIFO, which blocks its reader, or a link to
/dev/zero, which has no end. A name that code or configuration mentions can be longer than names of
files can be, or contain a null character. Here each of these is an answer, or an OSError.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

LARGEST = 16 << 20
"""Bytes of a side file; no `.gitignore`, configuration or lock file has more."""

_CHUNK = 1 << 20
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Unsuitable(OSError):
    """Something with the name of a file that is no regular file, or is too large."""


def read(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a regular file.

    Raises:
        OSError: it cannot be read.
        Unsuitable: it is no regular file, or has more than `largest` bytes.
    """
    try:
        _check(path.stat())  # opening a device can have an effect
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:  # a null character
        raise OSError(errno.EINVAL, str(error)) from error
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
    return os.path.isfile(path)


def is_folder(path: Path) -> bool:
    """True for a folder, or a link to one; no name raises."""
    return os.path.isdir(path)


def is_special(path: Path) -> bool:
    """True for a FIFO, a device and the like: what is there and is neither file nor folder."""
    return os.path.exists(path) and not is_file(path) and not is_folder(path)


def names_in(folder: Path) -> frozenset[str]:
    """The names in a folder; none if it cannot be listed."""
    try:
        return frozenset(os.listdir(folder))
    except (OSError, ValueError):
        return frozenset()


def _check(status: os.stat_result) -> int:
    """The size of a regular file."""
    if not stat.S_ISREG(status.st_mode):
        raise Unsuitable(errno.EINVAL, "not a regular file")
    return status.st_size
