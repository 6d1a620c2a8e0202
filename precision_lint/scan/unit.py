"""The unit of work: a repository as a mapping of names to contents, or a part of it.

Names and contents come from anywhere. What cannot be a file below a folder is left out and counted,
so that one such name does not keep the rest of a repository from being checked.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import PurePosixPath

from precision_lint.model.frozen import frozen
from precision_lint.scan.outcome import Limits, Outcome, Status

_PYTHON = (".py", ".ipynb")
_LONGEST_NAME = 255
_LONGEST_PATH = 2048
_DEEPEST = 64
"""Parts of a path; a tree of thousands of folders in each other is no project."""

_DATA = frozenset(
    ".7z .avi .bin .bmp .bz2 .ckpt .class .dll .dylib .exe .flac .gif .gz .h5 .ico .jar .jpeg "
    ".jpg .mkv .mov .mp3 .mp4 .npy .npz .o .ogg .onnx .otf .parquet .pdf .pickle .pkl .png .pt "
    ".pth .pyc .rar .safetensors .so .svg .tar .tgz .tif .tiff .ttf .wav .webm .webp .whl .woff "
    ".woff2 .xz .zip .zst".split()
)
"""Suffixes of files whose contents the linter never reads."""


@frozen(slots=False)
class Unit:
    """Files that are checked by one process: a project, of which one part is reported on."""

    repository: str
    commit: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    skipped: int = 0
    part: int = 1
    parts: int = 1
    problem: tuple[Status, str] | None = None
    """Why it cannot be checked."""

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(map(len, self.files.values()))

    def packed(self) -> bytes:
        """For the way from one task to another."""
        return pickle.dumps(self)

    @classmethod
    def unpacked(cls, packed: bytes) -> Unit:
        """What `packed` made."""
        unit = pickle.loads(packed)
        assert isinstance(unit, cls)
        return unit

    def outcome(self, status: Status = Status.OK, message: str = "") -> Outcome:
        """What is known without a check."""
        return Outcome(
            self.repository,
            self.commit,
            self.part,
            self.parts,
            status,
            message,
            len(self.files),
            self.size,
            self.skipped,
        )


def is_data(name: bytes) -> bool:
    """True for a picture, weights, an archive and the like, by the suffix."""
    dot = name.rfind(b".")
    return dot > 0 and name[dot:].lower().decode("latin-1") in _DATA


def file_name(name: bytes) -> str | None:
    """A name as a path below a folder, with its parts as they will be on disk; None for others."""
    text = name.decode("utf-8", "surrogateescape")
    path = PurePosixPath(text)
    parts = path.parts
    if path.is_absolute() or not parts or ".." in parts or "\0" in text:
        return None
    longest = max(len(part.encode("utf-8", "surrogateescape")) for part in parts)
    if longest > _LONGEST_NAME or len(name) > _LONGEST_PATH or len(parts) > _DEEPEST:
        return None
    return str(path)


def units(
    repository: str, commit: str | None, rows: Iterable[tuple[bytes, bytes | None]], limits: Limits
) -> Iterator[Unit]:
    """The work that a repository makes: one unit, or several if there is much to check.

    The rows are names and contents, in any order; None is the content of what was too large. Of
    different contents for one name the least counts, so that the order makes no difference.
    """
    files: dict[str, bytes] = {}
    skipped = 0
    for raw, content in rows:
        name = file_name(raw)
        if name is None or content is None or len(content) > limits.file_size or is_data(raw):
            skipped += 1
        elif name not in files:
            files[name] = content
        elif files[name] != content:
            skipped += 1
            files[name] = min(files[name], content)
    folders = {str(above) for name in files for above in PurePosixPath(name).parents}
    for name in folders & files.keys():
        skipped += 1
        del files[name]
    unit = Unit(repository, commit, dict(sorted(files.items())), skipped)
    if unit.size > limits.repository_size:
        said = f"{unit.size:,} bytes; the limit is {limits.repository_size:,}"
        yield Unit(repository, commit, skipped=skipped, problem=(Status.TOO_LARGE, said))
        return
    python = sum(len(content) for name, content in files.items() if name.endswith(_PYTHON))
    parts = max(1, -(-python // limits.part_size))
    yield from (replace(unit, part=part, parts=parts) for part in range(1, parts + 1))
