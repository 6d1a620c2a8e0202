"""Writing a file so that a crash leaves the old bytes or the new ones, never a mixture."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class NotWritten(Exception):
    """A file was not changed; the message says why."""


def write_atomically(path: Path, old: bytes, new: bytes) -> None:
    """Replace `old` by `new` in a file; a link's target is written, the mode is kept.

    Raises:
        NotWritten: the file is read-only, has changed since `old` was read, or
            the disk raises an error.
    """
    import tempfile

    target = Path(os.path.realpath(path))
    try:
        status = target.stat()
        mode = stat.S_IMODE(status.st_mode)
        # Respect the mode even for root, who would be allowed to write.
        if not (mode & _WRITABLE and os.access(target, os.W_OK)):
            raise NotWritten(f"{path}: not writable, left as it was")
        if target.read_bytes() != old:
            raise NotWritten(f"{path}: changed while it was being checked, left as it was")
        descriptor, name = tempfile.mkstemp(prefix=".precision-lint-", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(new)
                stream.flush()
                os.fsync(stream.fileno())
            with suppress(PermissionError):  # only root can change the owner of a file
                os.chown(name, status.st_uid, status.st_gid)
            os.chmod(name, mode)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise NotWritten(f"{path}: {error.strerror or error}, left as it was") from error


def create(path: Path, content: bytes) -> None:
    """Write a file that does not exist, completely or not at all.

    Raises:
        NotWritten: it exists, or the disk raises an error.
    """
    try:
        with path.open("xb") as stream:
            try:
                stream.write(content)
            except BaseException:
                os.unlink(path)
                raise
    except OSError as error:
        raise NotWritten(f"{path}: {error.strerror or error}") from error
