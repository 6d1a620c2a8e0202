"""Writing a file so that a crash leaves the old bytes or the new ones, never a mixture."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


class NotWritten(Exception):
    """A file was left as it was; the message says why."""


def write_atomically(path: Path, old: bytes, new: bytes) -> None:
    """Replace `old` by `new` in a file; a link's target is written, the mode is kept.

    Raises:
        NotWritten: the file is read-only, has changed since `old` was read, or the disk refuses.
    """
    target = Path(os.path.realpath(path))
    try:
        if not os.access(target, os.W_OK):
            raise NotWritten(f"{path}: not writable, left as it was")
        if target.read_bytes() != old:
            raise NotWritten(f"{path}: changed while it was being checked, left as it was")
        mode = stat.S_IMODE(target.stat().st_mode)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(new)
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, mode)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise NotWritten(f"{path}: {error.strerror or error}, left as it was") from error
