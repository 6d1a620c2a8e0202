"""Repositories that a list names."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from precision_lint.scan.outcome import Limits, Status
from precision_lint.scan.sources import sources, units_of
from precision_lint.scan.unit import Unit


def git(*arguments: str, cwd: Path) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=cwd, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, and what is not in it beside that."""
    root = tmp_path / "repository"
    (root / "a").mkdir(parents=True)
    (root / "a/b.py").write_text("x = 1\n")
    (root / "big.py").write_text("x" * 200)
    (root / "model.pt").write_bytes(b"\0")
    os.symlink("/etc/passwd", root / "link.py")
    git("init", "-q", cwd=root)
    git("add", ".", cwd=root)
    git("commit", "-q", "-m", "first", cwd=root)
    (root / "a/b.py").write_text("x = 2\n")
    (root / "new.py").write_text("x = 3\n")
    return root


LIMITS = Limits(file_size=100)


def one(source: str, limits: Limits = LIMITS) -> Unit:
    (unit,) = units_of(source, limits)
    return unit


def test_lines() -> None:
    text = "# ours\nb\n\n/abs/c\nb/\nhttps://host/x/y.git\ngit@host:x/y.git\n  a \n./b\n"
    assert sources(text, Path("/top")) == [
        "/top/b", "/abs/c", "https://host/x/y.git", "git@host:x/y.git", "/top/a",
    ]  # fmt: skip


def test_the_commit_of_a_repository_counts(repository: Path) -> None:
    unit = one(str(repository))
    assert unit.files == {"a/b.py": b"x = 1\n"}
    assert unit.commit == git("rev-parse", "HEAD", cwd=repository)
    assert unit.skipped == 2
    assert unit.repository == str(repository)


def test_a_bare_repository(repository: Path, tmp_path: Path) -> None:
    git("clone", "-q", "--bare", str(repository), "bare", cwd=tmp_path)
    assert one(str(tmp_path / "bare")).files == one(str(repository)).files


def test_an_address(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    unit = one(f"file://{repository}")
    assert (unit.files, unit.commit) == (one(str(repository)).files, one(str(repository)).commit)
    assert list(scratch.iterdir()) == []


def test_a_folder_is_read_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "node_modules").mkdir(parents=True)
    (folder / "node_modules/x.py").write_text("")
    (folder / "a.py").write_text("x = 1\n")
    (folder / "big.py").write_text("x" * 200)
    os.symlink("/etc", folder / "etc")
    os.symlink("a.py", folder / "link.py")
    os.mkfifo(folder / "pipe.py")
    (folder / os.fsdecode(b"\xff.py")).write_text("")
    unit = one(str(folder))
    assert unit.files == {"a.py": b"x = 1\n", "\udcff.py": b""}
    assert (unit.commit, unit.skipped) == (None, 1)


def test_a_folder_that_is_too_large(repository: Path) -> None:
    unit = one(str(repository), Limits(file_size=100, repository_size=3))
    assert unit.problem == (Status.TOO_LARGE, "more than the limit of 3 bytes")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("/no/such/folder", "no such folder"),
        ("file:///no/such/repository", "/no/such/repository"),
        ("--upload-pack=touch /tmp/executed", "no such folder"),
        ("ext::sh -c touch% /tmp/executed", "no such folder"),
    ],
)
def test_what_cannot_be_read(source: str, said: str) -> None:
    unit = one(source)
    assert unit.problem is not None
    assert unit.problem[0] is Status.UNREADABLE
    assert said in unit.problem[1]


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    git("init", "-q", cwd=tmp_path)
    unit = one(str(tmp_path))
    assert unit.problem is not None
    assert unit.problem[0] is Status.UNREADABLE


def test_a_repository_with_a_hole(repository: Path) -> None:
    """An object is missing, as in a partial clone."""
    blob = git("rev-parse", "HEAD:a/b.py", cwd=repository)
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    unit = one(str(repository))
    assert unit.problem is not None
    assert unit.problem[0] is Status.UNREADABLE


def test_hooks_and_filters_do_not_run(repository: Path, tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    hook = repository / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    git("config", "filter.evil.smudge", f"touch {marker}", cwd=repository)
    git("config", "core.fsmonitor", f"touch {marker}", cwd=repository)
    (repository / ".gitattributes").write_text("*.py filter=evil\n")
    git("-c", "core.fsmonitor=", "add", ".gitattributes", cwd=repository)
    git("-c", "core.fsmonitor=", "commit", "-q", "-m", "second", cwd=repository)
    marker.unlink(missing_ok=True)
    assert one(str(repository)).problem is None
    assert one(f"file://{repository}").problem is None
    assert not marker.exists()
