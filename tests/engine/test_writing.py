"""P7: a file holds the old bytes or the new ones, in its place, with its mode, and no litter."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from precision_lint.engine.store import StoreFile
from precision_lint.engine.writing import NotWritten, write, write_atomically
from tests.cli.running import BAD, CLEAN, FIXED, project, run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    return path


def listed(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664, 0o200])
def test_the_mode_is_kept(mode: int, path: Path) -> None:
    path.chmod(mode)
    write_atomically(path, b"old", b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert listed(path.parent) == ["a.py"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_owner_is_kept(path: Path) -> None:
    os.chown(path, 12345, 54321)
    write_atomically(path, b"old", b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_the_target_of_a_link_is_written(path: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links/link.py"
    link.symlink_to("../a.py")
    write_atomically(link, b"old", b"new")
    assert link.is_symlink()
    assert os.readlink(link) == "../a.py"
    assert path.read_bytes() == b"new"
    assert listed(link.parent) == ["link.py"]


def test_a_read_only_file_is_left(path: Path) -> None:
    path.chmod(0o444)
    with pytest.raises(NotWritten, match=r"a\.py: not writable, left as it was"):
        write_atomically(path, b"old", b"new")
    assert path.read_bytes() == b"old"


def test_a_file_that_changed_meanwhile_is_left(path: Path) -> None:
    with pytest.raises(NotWritten, match="changed while it was being checked"):
        write_atomically(path, b"older", b"new")
    assert path.read_bytes() == b"old"


def test_a_file_that_is_gone(path: Path) -> None:
    path.unlink()
    with pytest.raises(NotWritten, match="No such file"):
        write_atomically(path, b"old", b"new")
    assert listed(path.parent) == []


@pytest.mark.parametrize("step", ["fsync", "chown", "chmod", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_crash_leaves_the_old_bytes_and_no_litter(
    step: str, error: BaseException, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(os, step, crash)
    with pytest.raises(NotWritten if isinstance(error, OSError) else KeyboardInterrupt):
        write_atomically(path, b"old", b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert listed(path.parent) == ["a.py"]


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 252 + ".py")
    path.write_bytes(b"old")
    write_atomically(path, b"old", b"new")
    assert path.read_bytes() == b"new"


def test_a_link_out_of_the_project_is_not_written_unless_it_is_named(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "a.py").write_text(BAD)
    project(root, {"b.py": CLEAN})
    (root / "link.py").symlink_to("../a.py")
    ran = run("--fix", "--output-format", "concise", cwd=root)
    assert (ran.code, "link.py:4:9: MP101 `" in ran.out) == (1, True)
    assert "fixable" not in ran.out
    assert (tmp_path / "a.py").read_text() == BAD
    assert run("--fix", "link.py", cwd=root).code == 0
    assert (tmp_path / "a.py").read_text() == FIXED


def test_fix_keeps_links_and_modes_and_names_what_it_could_not_write(tmp_path: Path) -> None:
    project(tmp_path, {"real/a.py": BAD, "b.py": BAD, "c.py": BAD})
    (tmp_path / "link.py").symlink_to("real/a.py")
    (tmp_path / "b.py").chmod(0o755)
    (tmp_path / "c.py").chmod(0o444)
    ran = run("--fix", "--output-format", "concise", cwd=tmp_path)
    assert ran.code == 2
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real/a.py").read_text() == (tmp_path / "b.py").read_text() == FIXED
    assert stat.S_IMODE((tmp_path / "b.py").stat().st_mode) == 0o755
    assert (tmp_path / "c.py").read_text() == BAD
    assert f"error: {tmp_path}/c.py: not writable, left as it was" in ran.err
    assert "c.py:4:9: MP101" in ran.out
    assert "(2 fixed, 1 remaining)" in ran.out
    assert listed(tmp_path) == [".git", "b.py", "c.py", "link.py", "real"]


def test_only_files_that_change_are_written(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": FIXED, "b.py": BAD + "def f(:\n"})
    before = {path: path.stat() for path in tmp_path.glob("*.py")}
    run("--fix", cwd=tmp_path)
    for path, status in before.items():
        after = path.stat()
        assert (after.st_ino, after.st_mtime_ns) == (status.st_ino, status.st_mtime_ns)


@pytest.mark.parametrize("is_unnamed", [True, False])
def test_a_process_that_is_killed_leaves_no_litter_for_ever(
    is_unnamed: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    killed = os.fork()
    if killed == 0:
        os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
        write_atomically(path, b"old", b"new")
        os._exit(0)
    assert os.waitpid(killed, 0)[1] == signal.SIGKILL
    assert path.read_bytes() == b"old"
    left = [name for name in listed(path.parent) if name != "a.py"]
    assert len(left) == (not is_unnamed)
    for name in left:
        os.utime(path.parent / name, (0, 0))
    write_atomically(path, b"old", b"new")
    assert path.read_bytes() == b"new"
    assert listed(path.parent) == ["a.py"]


def test_only_old_files_of_our_own_are_swept(path: Path) -> None:
    ours = f".precision-lint-{'0' * 16}.tmp"
    for name in (ours, ".precision-lint-baseline.json", ".precision-lint-x.tmp", f"a{ours}"):
        (path.parent / name).write_bytes(b"")
        os.utime(path.parent / name, (0, 0))
    (path.parent / f".precision-lint-{'1' * 16}.tmp").write_bytes(b"")  # one is being written
    write_atomically(path, b"old", b"new")
    assert ours not in listed(path.parent)
    assert len(listed(path.parent)) == 5


@pytest.mark.parametrize("is_unnamed", [True, False])
def test_a_full_disk_leaves_no_litter_of_the_cache(
    is_unnamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    if not is_unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "fsync", full)
    StoreFile(tmp_path / "a.store").write({"results": []})
    assert listed(tmp_path) == []


def test_a_baseline_survives_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, {"a.py": BAD, "known.json": "old"})

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = run("--write-baseline", "known.json", cwd=tmp_path)
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert (tmp_path / "known.json").read_text() == "old"
    assert listed(tmp_path) == [".git", "a.py", "known.json"]


def test_a_new_file_has_the_mode_of_new_files_and_an_old_one_keeps_its_own(path: Path) -> None:
    path.chmod(0o640)
    before = os.umask(0o022)
    try:
        write(path, b"new")
        write(path.parent / "b", b"b")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE((path.parent / "b").stat().st_mode) == 0o644


def test_a_fifo_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    write(tmp_path / "fifo", b"text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)
