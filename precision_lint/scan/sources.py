"""Repositories that a list names: folders, git repositories, and addresses of such.

Of a git repository the commit at HEAD counts, and only names and contents are read from it: nothing
is checked out, so that no filter or hook runs. Of another folder the files are read as they are.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from precision_lint.engine.failures import internal_error
from precision_lint.engine.revisions import NoRevision, commit_at, files_at
from precision_lint.model.regex import regex
from precision_lint.project import disk
from precision_lint.project.discovery import DEFAULT_EXCLUDE
from precision_lint.scan.outcome import Limits, Status
from precision_lint.scan.unit import Unit, is_data, units

_URL = regex(r"(?:https?|ssh|git|file)://|[\w.-]+@[\w.-]+:")
Rows = list[tuple[bytes, bytes | None]]


class Unsuitable(Exception):
    """A repository that cannot be checked."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.problem = status, message


def sources(text: str, folder: Path) -> list[str]:
    """The lines of a list, each once; paths are those from the folder of the list.

    Blank lines and lines that start with `#` do not count.
    """
    lines = (line.strip() for line in text.splitlines())
    named = [line for line in lines if line and not line.startswith("#")]
    places = [line if _URL.match(line) else os.path.abspath(folder / line) for line in named]
    return list(dict.fromkeys(places))


def units_of(source: str, limits: Limits) -> list[Unit]:
    """The work that a line of a list makes; a unit with a problem if it cannot be read."""
    try:
        commit, rows = _read(source, limits)
    except Unsuitable as unsuitable:
        return [Unit(source, problem=unsuitable.problem)]
    except (NoRevision, OSError) as problem:
        return [Unit(source, problem=(Status.UNREADABLE, str(problem)))]
    except Exception as problem:  # one repository must never take the others with it
        return [Unit(source, problem=(Status.UNREADABLE, internal_error(problem)))]
    return list(units(source, commit, rows, limits))


def _read(source: str, limits: Limits) -> tuple[str | None, Rows]:
    if _URL.match(source):
        with TemporaryDirectory(prefix="precision-lint-scan-", ignore_cleanup_errors=True) as made:
            _clone(source, Path(made), limits.seconds)
            return _at_head(Path(made), limits)
    folder = Path(source)
    if not disk.is_folder(folder):
        raise Unsuitable(Status.UNREADABLE, "no such folder")
    if (folder / ".git").exists() or all((folder / name).exists() for name in ("HEAD", "objects")):
        return _at_head(folder, limits)
    return None, _in_folder(folder, limits)


def _clone(url: str, folder: Path, seconds: float) -> None:
    """Fetch the newest commit; git never prompts for a password."""
    options = ("--quiet", "--bare", "--depth=1", "--no-tags")
    command = ["git", "clone", *options, "--", url, str(folder)]
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true"}
    environ.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    try:
        done = subprocess.run(
            command, env=environ, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"git clone took more than {seconds:g} seconds"
        raise Unsuitable(Status.TIMEOUT, message) from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        fatal = [line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")]
        raise Unsuitable(Status.UNREADABLE, "; ".join(fatal or lines[-1:]) or "git clone failed")


def _at_head(folder: Path, limits: Limits) -> tuple[str, Rows]:
    budget = _Budget(limits)
    commit = commit_at("HEAD", folder)
    rows: Rows = [
        (os.fsencode(name), content)
        for name, content in files_at(commit, folder, budget.has_room_for)
    ]
    return commit, [*rows, *((name, None) for name in budget.refused)]


def _in_folder(top: Path, limits: Limits) -> Rows:
    budget = _Budget(limits)
    rows: Rows = []
    for path in _walk(top):
        name = path.relative_to(top).as_posix()
        if budget.has_room_for(name, path.stat().st_size):
            rows.append((os.fsencode(name), disk.read(path, limits.file_size)))
    return [*rows, *((name, None) for name in budget.refused)]


def _walk(top: Path) -> Iterator[Path]:
    """The files below a folder; links are not followed."""
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in DEFAULT_EXCLUDE]
        for name in names:
            path = Path(folder, name)
            if disk.is_file(path) and not os.path.islink(path):
                yield path


class _Budget:
    """What is read of a repository: its files but data, as long as they are not too much."""

    def __init__(self, limits: Limits) -> None:
        self.refused: list[bytes] = []
        self._limits = limits
        self._size = 0

    def has_room_for(self, name: str, size: int) -> bool:
        """True for a file that is to be read.

        Raises:
            Unsuitable: the repository is too large.
        """
        raw = os.fsencode(name)
        if size > self._limits.file_size or is_data(raw):
            self.refused.append(raw)
            return False
        self._size += size
        most = self._limits.repository_size
        if self._size > most:
            raise Unsuitable(Status.TOO_LARGE, f"more than the limit of {most:,} bytes")
        return True
