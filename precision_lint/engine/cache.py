"""The cache: Python files that are known to be clean.

Only their digests are stored. A hit means the same bytes under the same version and settings. If a
rule used facts of the project, the digest also covers the state of the project's files. Files with
findings are checked again every time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from precision_lint.engine.settings import Settings
from precision_lint.model.version import __version__

_DIGEST_BYTES = 16
_MOST_DIGESTS = 200_000
"""3 MB: a larger cache is discarded."""


def _code() -> list[tuple[str, int, int]]:
    """A digest of the linter's own files, which change under one version in development."""
    packages = ("precision_lint", "precision_lint.rules", "precision_lint.fixers")
    folders = [folder for name in packages for folder in import_module(name).__path__]
    files = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    status = [(path.name, path.stat()) for path in files]
    return [(name, found.st_mtime_ns, found.st_size) for name, found in status]


class CleanFiles:
    """The digests of clean files for one version and one set of settings."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        facts = (
            __version__,
            _code(),
            sys.version_info[:2],
            sorted(settings.target.items()),
            settings.target_gpu,
            settings.min_confidence,
            settings.min_severity,
        )
        import hashlib

        self._key = hashlib.blake2b(repr(facts).encode(), digest_size=16).digest()
        self._path = folder / f"clean-{self._key.hex()}"
        self._digests = self._read()
        self._new: set[bytes] = set()

    def digest(self, content: bytes, codes: Iterable[str]) -> bytes:
        """The digest of a file's bytes for the rules that run on it."""
        import hashlib

        state = hashlib.blake2b(content, digest_size=_DIGEST_BYTES, key=self._key)
        state.update("\0".join(sorted(codes)).encode())
        return state.digest()

    def __contains__(self, digest: object) -> bool:
        return digest in self._digests

    def add(self, digest: bytes) -> None:
        self._new.add(digest)

    def save(self) -> None:
        """Write new entries; a cache that cannot be written is not an error."""
        from precision_lint.engine.writing import replace

        if self._new <= self._digests:
            return
        digests = self._digests | self._new
        if len(digests) > _MOST_DIGESTS:
            digests = self._new
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace(self._path, b"".join(sorted(digests)))

    def _read(self) -> set[bytes]:
        try:
            content = self._path.read_bytes()
        except OSError:
            return set()
        if len(content) % _DIGEST_BYTES:
            return set()
        return {
            content[start : start + _DIGEST_BYTES]
            for start in range(0, len(content), _DIGEST_BYTES)
        }
