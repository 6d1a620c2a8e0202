"""Writing a file so that a crash leaves the old bytes or the new ones, never a mixture.

The new bytes get a name only when they are complete, where the file system can do that: a process
that is killed leaves nothing, except between the two calls that name the file and move it.
Elsewhere they are written to a temporary file beside the old one. What a killed process left is
removed by the next one that writes to that folder an hour later.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from precision_lint.model.regex import regex
from precision_lint.project import disk

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_TEMPORARY = regex(r"\.precision-lint-[0-9a-f]{16}\.tmp")
_STALE = 3600.0
"""Seconds after which a temporary file belongs to nobody: writing one takes milliseconds."""


class NotWritten(Exception):
    """A file was not changed; the message says why."""


def write_atomically(path: Path, old: bytes, new: bytes) -> None:
    """Replace `old` by `new` in a file; a link's target is written, the mode is kept.

    Raises:
        NotWritten: the file is read-only, has changed since `old` was read, or
            the disk raises an error.
    """
    target = Path(os.path.realpath(path))
    try:
        status = target.stat()
        mode = stat.S_IMODE(status.st_mode)
        # Respect the mode even for root, who would be allowed to write.
        if not (mode & _WRITABLE and os.access(target, os.W_OK)):
            raise NotWritten(f"{path}: not writable, left as it was")
        if disk.read(target, len(old)) != old:
            raise _Changed

        def own(descriptor: int) -> None:
            with suppress(PermissionError):  # only root can change the owner of a file
                os.chown(descriptor, status.st_uid, status.st_gid)
            os.chmod(descriptor, mode)

        replace(target, new, own)
    except (_Changed, disk.Unsuitable):
        message = f"{path}: changed while it was being checked, left as it was"
        raise NotWritten(message) from None
    except OSError as error:
        raise NotWritten(f"{path}: {error.strerror or error}, left as it was") from error


def write(path: Path, content: bytes) -> None:
    """Make `content` that of a file that may be new; a FIFO or a device is written to.

    Raises:
        OSError: the disk raises an error; the file is as it was.
    """
    if disk.is_special(path):
        path.write_bytes(content)
        return
    target = Path(os.path.realpath(path))
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None

    def keep_mode(descriptor: int) -> None:
        if mode is not None:
            os.chmod(descriptor, mode)

    replace(target, content, keep_mode, 0o666)


def replace(
    target: Path,
    content: bytes,
    prepare: Callable[[int], None] = lambda descriptor: None,
    mode: int = 0o600,
) -> None:
    """Make `content` that of the file `target`; `prepare` is called with the complete new file.

    Raises:
        OSError: the disk raises an error; the file is as it was.
    """
    import secrets

    _sweep(target.parent)
    name = target.parent / f".precision-lint-{secrets.token_hex(8)}.tmp"
    descriptor = _unnamed(target.parent, mode)
    is_named = descriptor is None
    if descriptor is None:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            prepare(descriptor)
            os.fsync(descriptor)
            if not is_named:
                # With a folder's descriptor, Python follows the link; it is not used otherwise.
                os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor)
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _unnamed(folder: Path, mode: int) -> int | None:
    """A new file in a folder without a name; None where that is not possible."""
    if not hasattr(os, "O_TMPFILE") or not os.path.exists("/proc/self/fd"):
        return None
    with suppress(OSError):  # not every file system supports it
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, mode)
    return None


def _sweep(folder: Path) -> None:
    """Remove what processes that were killed left in a folder."""
    for name in disk.names_in(folder):
        if _TEMPORARY.fullmatch(name):
            with suppress(OSError):
                if time.time() - (folder / name).lstat().st_mtime > _STALE:
                    os.unlink(folder / name)


class _Changed(Exception):
    """The file holds other bytes than those that were read."""


def create(path: Path, content: bytes) -> None:
    """Write a file that does not exist, completely or not at all.

    Raises:
        NotWritten: it exists, or the disk raises an error.
    """
    try:
        with path.open("xb") as stream:
            try:
                stream.write(content)
                stream.flush()  # a full disk may show here only
            except BaseException:
                os.unlink(path)
                raise
    except OSError as error:
        raise NotWritten(f"{path}: {error.strerror or error}") from error
