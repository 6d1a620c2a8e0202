"""Which files to read: the paths that were asked for, less what is excluded or ignored."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Kind = Literal["python", "yaml", "json", "toml", "shell"]

DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox",
    ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pycache__",
    "__pypackages__", "_build", "build", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip

_KINDS: dict[str, Kind] = {
    ".py": "python", ".pyi": "python",
    ".yaml": "yaml", ".yml": "yaml",
    ".json": "json", ".jsonc": "json",
    ".toml": "toml",
    ".sh": "shell", ".bash": "shell", ".env": "shell", ".slurm": "shell", ".sbatch": "shell",
}  # fmt: skip


def kind_of(path: PurePath) -> Kind | None:
    """The kind of file that a name stands for; None for files that are not read."""
    if (kind := _KINDS.get(path.suffix.lower())) is not None:
        return kind
    name = path.name
    # `.env`, `.env.local`, `config.env.example`
    return "shell" if name.startswith(".env") or ".env." in name else None


class Excludes:
    """Exclude patterns, matched against paths relative to the project root only.

    A pattern without a slash matches any component (`build`, `*.gen.py`); one with a slash matches
    a path from the root, or a folder above it.
    """

    def __init__(self, root: Path, patterns: Iterable[str]) -> None:
        self.root = root
        names = []
        self._paths = []
        for pattern in patterns:
            trimmed = pattern.rstrip("/").removeprefix("./")
            (self._paths if "/" in trimmed else names).append(trimmed)
        self._name = re.compile("|".join(map(translate, names)) or r"(?!)")
        self._path = re.compile("|".join(map(translate, self._paths)) or r"(?!)")

    def match_entry(self, path: Path) -> bool:
        """True if this very file or folder is excluded, whatever is above it."""
        if self._name.match(path.name):
            return True
        return bool(self._paths) and self._path.match(self._relative(path)) is not None

    def match(self, path: Path) -> bool:
        """True if the path or a folder above it, below the root, is excluded."""
        parts = PurePath(self._relative(path)).parts
        return any(
            self.match_entry(self.root.joinpath(*parts[: depth + 1])) for depth in range(len(parts))
        )

    def _relative(self, path: Path) -> str:
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.name


@lru_cache(maxsize=4096)
def _gitignore(folder: Path) -> GitIgnoreSpec | None:
    """The patterns of the .gitignore in `folder` (and of .git/info/exclude beside a .git)."""
    lines: list[str] = []
    for name in (".gitignore", ".git/info/exclude"):
        try:
            lines += (folder / name).read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return None
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def _ignored(path: Path, is_folder: bool, ignoring: Sequence[Path]) -> bool:
    """True if a .gitignore applies to `path`: the deepest one that says something decides."""
    for folder in reversed(ignoring):
        spec = _gitignore(folder)
        if spec is None:
            continue
        relative = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
        decision = spec.check_file(relative).include
        if decision is not None:
            return decision
    return False


def _walk(
    top: Path, excludes: Excludes, ignoring: tuple[Path, ...], note: Callable[[str], None]
) -> Iterator[Path]:
    pending = [(top, ignoring)]
    while pending:
        folder, ignoring = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            note(f"{folder}: {error.strerror or error}")
            continue
        for entry in entries:
            path = folder / entry.name
            # Links to folders are not followed: what they show is linted where it lies, and a
            # loop cannot catch us.
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and (kind_of(path) is None or not _is_regular(path)):
                continue
            if excludes.match_entry(path) or _ignored(path, is_folder, ignoring):
                continue
            if is_folder:
                pending.append((path, (*ignoring, path)))
            else:
                yield path


def _is_regular(path: Path) -> bool:
    """True for a file that can be read to its end: no FIFO, no device, no dangling link."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def files(
    paths: Sequence[Path],
    root: Path,
    exclude: Iterable[str] = DEFAULT_EXCLUDE,
    *,
    force_exclude: bool = False,
    note: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """The files below `paths` that are read, each once, in path order.

    A file that is named itself is read even if excluded, unless `force_exclude`. `note` is told of
    folders that cannot be listed.
    """
    excludes = Excludes(root, exclude)
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            if force_exclude and excludes.match(path):
                continue
            between = [path, *path.parents]
            above = between[: between.index(root) + 1] if root in between else [path]
            candidates: Iterable[Path] = _walk(path, excludes, tuple(reversed(above)), note)
        elif kind_of(path) is None or (force_exclude and excludes.match(path)):
            continue
        else:
            candidates = (path,)
        for candidate in candidates:
            # A link and its target are one file; the plain path stands for both.
            real = os.path.realpath(candidate)
            if real not in found or not candidate.is_symlink():
                found[real] = candidate
    return sorted(found.values(), key=str)
