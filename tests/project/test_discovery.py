"""Finding files: odd names, odd kinds, loops, depths, and the same list every time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from precision_lint.project import discovery, disk
from precision_lint.project.discovery import (
    DEFAULT_EXCLUDE,
    Excludes,
    files,
    kind_of,
    project_files,
)
from tests.cli.running import BAD, codes, project, run

NAMES = [
    b"new\nline.py", b"with space.py", b"-leading-dash.py", b"--fix.py", b"latin-\xe9.py",
    b"\xff\xfe.py", "größe.py".encode(), b"tab\t.py", b"*.py", b"[a].py", b"quo\"te'.py", b"%s.py",
    b"\x1b[31mred.py", b".hidden.py", b".py.py", b"a.py.py",
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.py", "python"), ("a.PY", "python"), ("a.pyi", "python"), ("a.yaml", "yaml"),
        ("a.yml", "yaml"), ("a.json", "json"), ("a.toml", "toml"), ("a.sh", "shell"),
        (".env", "shell"), (".env.local", "shell"), ("x.env.example", "shell"), ("a.env", "shell"),
        ("Dockerfile", "dockerfile"), ("Dockerfile.gpu", "dockerfile"),
        ("Dockerfile-gpu", "dockerfile"), ("gpu.Dockerfile", "dockerfile"),
        ("Containerfile", "dockerfile"), ("Makefile", "makefile"), ("rules.mk", "makefile"),
        ("README.md", "markdown"), ("a.markdown", "markdown"),
        ("a.pyc", None), ("py", None), (".py", None), ("a.txt", None), ("Makefile.am", None),
        ("Dockerfiles.txt", None), ("makefile-parser", None),
    ],
)  # fmt: skip
def test_kinds(name: str, kind: str | None) -> None:
    assert kind_of(Path(name)) == kind


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_any_name(name: bytes, tmp_path: Path) -> None:
    project(tmp_path, {})
    path = tmp_path / os.fsdecode(name)
    path.write_text(BAD)
    for format in ("full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit"):
        ran = run("--output-format", format, cwd=tmp_path)
        assert (ran.code, ran.err) == (1, "")
        assert b"MP101" in ran.stdout
    assert run("--", path.name, cwd=tmp_path).code == 1
    assert run("--fix", cwd=tmp_path).code == 0
    assert "float()" in path.read_text()


def test_what_is_no_regular_file_is_passed_over(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD, "folder.py/b.py": BAD})
    os.mkfifo(tmp_path / "fifo.py")
    (tmp_path / "dangling.py").symlink_to("nowhere")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "device.py").symlink_to("/dev/zero")
    (tmp_path / "itself").symlink_to(".", target_is_directory=True)
    (tmp_path / "above").symlink_to("..", target_is_directory=True)
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert ran.out.splitlines()[:2] == [
        line for line in ran.out.splitlines() if line.startswith(("a.py:", "folder.py/b.py:"))
    ]
    assert codes(ran) == ["MP101", "MP101"]
    assert ran.err == ""


@pytest.mark.parametrize("name", ["fifo.py", "device.py"])
def test_a_named_file_that_is_not_regular_is_a_finding(name: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    os.mkfifo(tmp_path / "fifo.py")
    (tmp_path / "device.py").symlink_to("/dev/zero")
    ran = run(name, "a.py", "--output-format", "concise", cwd=tmp_path)
    assert ran.code == 1
    assert sorted(codes(ran)) == ["MP101", "MP903"]
    assert "not a regular file" in ran.out


@pytest.mark.parametrize("name", ["dangling.py", "loop.py"])
def test_a_named_link_to_nothing_is_missing(name: str, tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    (tmp_path / name).symlink_to(name if name == "loop.py" else "nowhere")
    ran = run(name, "a.py", cwd=tmp_path)
    assert (ran.code, ran.stdout) == (2, b"")
    assert name in ran.err


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, {"a.py": BAD, "b.py": BAD})
    read = disk.read

    def denied(path: Path, largest: int = disk.LARGEST) -> bytes:
        if path.name == "a.py":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, largest)

    monkeypatch.setattr(disk, "read", denied)
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert ran.code == 1
    assert codes(ran) == ["MP903", "MP101"]
    assert "a.py:1:1: MP903 cannot be read: Permission denied" in ran.out


def test_a_folder_that_may_not_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, {"a.py": BAD, "sub/b.py": BAD})
    scandir = os.scandir

    def denied(folder: Path) -> object:
        if Path(folder).name == "sub":
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", denied)
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert codes(ran) == ["MP101"]
    assert f"note: {tmp_path}/sub: Permission denied" in ran.err


def test_a_file_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, {"a.py": BAD})
    monkeypatch.setattr(
        "precision_lint.project.discovery.files", lambda *_, **__: [tmp_path / "gone.py"]
    )
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert (ran.code, codes(ran)) == (1, ["MP903"])


def test_very_deep_folders(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": BAD})
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 50, dir_fd=folder)
        inner = os.open("d" * 50, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert codes(ran) == ["MP101"]
    assert "File name too long" in ran.err
    assert "Traceback" not in ran.err


def test_many_folders_below_each_other(tmp_path: Path) -> None:
    folder = project(tmp_path, {}).joinpath(*["d"] * 900)
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(BAD)
    assert codes(run("--output-format", "concise", cwd=tmp_path)) == ["MP101"]


@pytest.mark.parametrize("name", ["t.json", "t.yaml", "t.toml"])
def test_data_is_not_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (project(tmp_path, {}) / name).open("wb") as stream:
        stream.truncate(1 << 40)
    assert run(cwd=tmp_path).code == 0
    assert run(name, cwd=tmp_path).code == 0


def test_excludes_are_matched_below_the_root_only(tmp_path: Path) -> None:
    root = tmp_path / "build"
    excludes = Excludes(root, DEFAULT_EXCLUDE)
    assert not excludes.match(root / "a.py")
    assert not excludes.match(root)
    assert excludes.match(root / "build/a.py")
    assert excludes.match(root / "sub/build/deep/a.py")


def test_each_file_once_and_in_order(tmp_path: Path) -> None:
    project(tmp_path, dict.fromkeys(["b.py", "a/c.py", "a.py", "a/b/d.py"], BAD))
    found = files([tmp_path / "a", tmp_path, tmp_path / "a.py"], tmp_path)
    assert found == sorted(found, key=str)
    assert len(found) == len(set(found)) == 4


def _write(root: Path, names: list[str]) -> None:
    """Empty files in a folder that nothing marks as a project."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def test_repositories_in_a_folder_without_a_mark_are_other_projects(tmp_path: Path) -> None:
    _write(tmp_path, ["a.py", "b/c.py", "other/d.py", "other/.git/config"])
    assert project_files(tmp_path, ()) == [tmp_path / "a.py", tmp_path / "b" / "c.py"]
    (tmp_path / "pyproject.toml").touch()
    assert tmp_path / "other" / "d.py" in project_files(tmp_path, ())


def test_a_folder_of_everything_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["a.py", "b.py", "notes.txt", "build.py", "sub/c.py", "sub/d.py"]
    _write(tmp_path, names)
    monkeypatch.setattr(discovery, "MOST_ENTRIES", 4)
    found = project_files(tmp_path, ["build.py"])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == [
        "a.py", "b.py", "sub/c.py", "sub/d.py"
    ]  # fmt: skip
    monkeypatch.setattr(discovery, "MOST_ENTRIES", 3)
    assert project_files(tmp_path, ["build.py"]) == [tmp_path / "a.py", tmp_path / "b.py"]
