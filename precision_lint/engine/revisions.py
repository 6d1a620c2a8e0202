"""A revision of a repository as a folder: what a run at that revision may read.

Only names and contents are read from git. Nothing is checked out, so that no filter or hook of the
repository runs.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from precision_lint.project.discovery import kind_of

_LARGEST = 1 << 20
_PINS = (".txt", ".lock", ".cfg")
"""Files that pin the versions of libraries."""


class NoRevision(Exception):
    """Git knows no such revision, or there is no repository."""


@contextmanager
def folder_of(revision: str, root: Path) -> Iterator[Path]:
    """A folder with the files of a revision that are code, configurations or pins.

    Raises:
        NoRevision: git cannot give it.
    """
    found = files_at(revision, root, _is_read)
    with TemporaryDirectory(prefix="precision-lint-") as made:
        folder = Path(made).resolve()
        (folder / ".git").mkdir()  # it is a project of its own
        for name, content in found:
            path = folder / name
            if folder in path.resolve().parents:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        yield folder


def contents_at(revision: str, root: Path, paths: Sequence[Path]) -> dict[Path, bytes | None]:
    """What files held at a revision; None for a file that was not there.

    Raises:
        NoRevision: git cannot give it.
    """
    _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}")
    top = Path(os.fsdecode(_git(root, "rev-parse", "--show-toplevel").rstrip(b"\n")))
    asked = {path: f"{revision}:{path.relative_to(top)}" for path in paths if _is_named(path, top)}
    given = b"".join(os.fsencode(name) + b"\n" for name in asked.values())
    answer = _git(root, "cat-file", "--batch", given=given)
    found: dict[Path, bytes | None] = dict.fromkeys(paths)
    at = 0
    for path in asked:
        end = answer.index(b"\n", at)
        match answer[at:end].rsplit(b" ", 2):
            case [_, b"blob", size]:
                found[path] = answer[end + 1 : end + 1 + int(size)]
                at = end + 1 + int(size) + 1
            case _:  # there is none, or a folder or a link to another repository
                at = end + 1
    return found


def _is_named(path: Path, top: Path) -> bool:
    """True for a file of the repository by whose name git can be asked."""
    return path.is_relative_to(top) and "\n" not in str(path)


def commit_at(revision: str, root: Path) -> str:
    """The full name of a commit.

    Raises:
        NoRevision: there is none.
    """
    named = ("--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return _git(root, "rev-parse", *named).decode().strip()


def files_at(
    revision: str, root: Path, is_wanted: Callable[[str, int], bool]
) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the files of a revision that are wanted by name and size.

    Links and other repositories are no files.

    Raises:
        NoRevision: git cannot give it.
    """
    listing = _git(root, "ls-tree", "-r", "-z", "-l", "--full-tree", f"{revision}^{{tree}}")
    wanted = dict(_wanted(listing, is_wanted))
    return _contents(wanted, root)


def _is_read(name: str, size: int) -> bool:
    """True for the files that a run at a revision may read."""
    path = Path(name)
    return size <= _LARGEST and (kind_of(path) is not None or path.suffix in _PINS)


def _wanted(listing: bytes, is_wanted: Callable[[str, int], bool]) -> Iterator[tuple[str, bytes]]:
    """The names of the wanted files, with the names of their contents."""
    for row in listing.split(b"\0"):
        head, _, raw = row.partition(b"\t")
        match head.split():
            case [b"100644" | b"100755", b"blob", blob, size]:
                name = raw.decode("utf-8", "surrogateescape")
                if is_wanted(name, int(size)):
                    yield name, blob


def _contents(wanted: dict[str, bytes], root: Path) -> Iterator[tuple[str, bytes]]:
    found = _git(
        root, "cat-file", "--batch", given=b"".join(blob + b"\n" for blob in wanted.values())
    )
    at = 0
    for name in wanted:
        end = found.index(b"\n", at)
        size = int(found[at:end].split()[2])
        yield name, found[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], input=given, capture_output=True, check=False
        )
    except OSError as problem:
        raise NoRevision(f"git cannot be run: {problem}") from problem
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise NoRevision(said.removeprefix("fatal: ") or "git knows no such revision")
    return done.stdout
