"""What is in files, as digests: those of files that did not change are known without reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from precision_lint.project import disk
from precision_lint.project.disk import Stamp

_LARGEST = 64 << 20
"""Bytes of a file that is read for its digest; the time and size of a larger one must do."""
_DIGEST_BYTES = 12


def digest_of(content: bytes) -> str:
    """A short string that differs for bytes that differ."""
    import hashlib  # with OpenSSL, which a run without a store need not load

    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


class Contents:
    """The digests of files, each worked out once; `known` ones are from an earlier run."""

    def __init__(self) -> None:
        self._known: Mapping[str, tuple[Stamp, str]] = {}
        self._digests: dict[Path, str] = {}

    def trust(self, known: Mapping[str, tuple[Stamp, str]]) -> None:
        """Files that have the same stamp as then have the same digest."""
        self._known = known

    def add(self, path: Path, digest: str) -> None:
        """The file was read, and has this digest."""
        self._digests[path] = digest

    def digest(self, path: Path) -> str:
        """The digest of a file; empty if it cannot be read."""
        if path not in self._digests:
            self._digests[path] = self._digest(path)
        return self._digests[path]

    def worked_out(self) -> Iterator[tuple[Path, str]]:
        """The digests that somebody wanted."""
        yield from self._digests.items()

    def _digest(self, path: Path) -> str:
        stamp = disk.stamp(path)
        known = self._known.get(str(path))
        if known is not None and stamp == known[0]:
            return known[1]
        if stamp is not None and stamp.size > _LARGEST:
            return digest_of(repr(stamp).encode())
        try:
            return digest_of(disk.read(path, _LARGEST))
        except OSError:
            return ""
