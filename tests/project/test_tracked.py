"""What git tracks is a part of the project, whatever `.gitignore` says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from precision_lint.project.discovery import DEFAULT_EXCLUDE, files, project_files
from precision_lint.project.tracked import tracked

FILES = {
    ".gitignore": "*.yaml\nconf/\nbuild/\n",
    "a.yaml": "bf16: true\n",
    "untracked.yaml": "fp16: true\n",
    "conf/sub/" + "n" * 70 + ".json": "{}",
    "conf/sub/näh.json": "{}",
    "build/b.json": "{}",
    "run.sh": "true\n",
}


def git(*arguments: str, cwd: Path) -> str:
    command = ["git", "-c", "core.quotepath=off", *arguments]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git("init", "-q", cwd=tmp_path)
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    git("add", "-f", *(name for name in FILES if name != "untracked.yaml"), cwd=tmp_path)
    git("add", "-f", "link.yaml", cwd=tmp_path)
    return tmp_path


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_index_is_read_as_git_reads_it(version: str, repository: Path) -> None:
    (repository / "later.sh").write_text("true\n")
    git("add", "-N", "later.sh", cwd=repository)  # needs the flags of version 3
    git("update-index", "--index-version", version, cwd=repository)
    listed = git("ls-files", cwd=repository).splitlines()
    assert tracked(repository) == [name for name in listed if name != "link.yaml"]


def test_in_another_work_tree(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a", cwd=repository)
    other = tmp_path_factory.mktemp("other") / "tree"
    git("worktree", "add", "-q", str(other), cwd=repository)
    assert tracked(other) == tracked(repository) != []


@pytest.mark.parametrize("content", [b"", b"DIRC", b"DIRC\0\0\0\2\0\0\0\7" + b"\0" * 80, b"x" * 99])
def test_what_is_no_index(content: bytes, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_bytes(content)
    assert tracked(tmp_path) == []


def test_what_is_tracked_belongs_to_the_project(repository: Path) -> None:
    found = [path.relative_to(repository).as_posix() for path in files([repository], repository)]
    assert found == ["run.sh"], "ignored files are not reported on"
    all_of_it = project_files(repository, DEFAULT_EXCLUDE)
    assert [path.relative_to(repository).as_posix() for path in all_of_it] == [
        "a.yaml", "conf/sub/" + "n" * 70 + ".json", "conf/sub/näh.json", "run.sh"
    ]  # fmt: skip
