"""Which folder is the project of some paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine.options import Options
from precision_lint.engine.session import Session
from precision_lint.project import roots
from precision_lint.project.roots import project_root
from tests.cli.running import run

OLD_API = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"


def make(tmp_path: Path, *names: str) -> Path:
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


def test_a_mark_counts_most(tmp_path: Path) -> None:
    make(tmp_path, "a/pyproject.toml", "a/b/requirements.txt", "a/b/c/x.py")
    assert project_root(tmp_path / "a/b/c", tmp_path / "a/b") == tmp_path / "a"


def test_without_a_mark_it_is_the_working_folder(tmp_path: Path) -> None:
    make(tmp_path, "a/b/x.py")
    for start in ("", "a", "a/b"):
        assert project_root(tmp_path / start, tmp_path) == tmp_path


def test_of_several_projects_in_the_working_folder_it_is_that_of_the_path(tmp_path: Path) -> None:
    make(tmp_path, "one/requirements.txt", "one/src/x.py", "other/environment.yml", "other/x.py")
    assert project_root(tmp_path / "one/src", tmp_path) == tmp_path / "one"
    assert project_root(tmp_path / "other", tmp_path) == tmp_path / "other"
    make(tmp_path, "requirements.txt")
    assert project_root(tmp_path / "one/src", tmp_path) == tmp_path


def test_elsewhere_it_is_the_folder_of_the_paths(tmp_path: Path) -> None:
    make(tmp_path, "here/x.py", "there/y.py", "requirements.txt")
    assert project_root(tmp_path / "there", tmp_path / "here") == tmp_path / "there"
    assert project_root(tmp_path / "there") == tmp_path / "there"


def test_a_large_working_folder_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a/b/x.py", *(f"downloads/{index}.bin" for index in range(20)))
    monkeypatch.setattr(roots, "MOST_ENTRIES", 20)
    assert project_root(tmp_path / "a/b", tmp_path) == tmp_path / "a/b"


def test_an_unmarked_folder_has_the_same_files_for_one_of_them(tmp_path: Path) -> None:
    make(tmp_path, *(f"a/b{index}.py" for index in range(1_100)))
    whole, one = (
        Session.open([path], Options(), tmp_path) for path in (tmp_path, tmp_path / "a/b7.py")
    )
    assert len(whole.files(str)) == 1_100
    assert [*whole.project.files] == [*one.project.files]


@pytest.mark.parametrize("path", [".", "src", "src/deep", "src/deep/train.py"])
def test_pins_count_for_every_way_to_name_a_file(path: str, tmp_path: Path) -> None:
    make(tmp_path, "src/deep/train.py")
    (tmp_path / "src/deep/train.py").write_text(OLD_API)
    assert run(path, cwd=tmp_path).code == 1
    (tmp_path / "requirements.txt").write_text("torch==1.13.1\n")
    assert run(path, cwd=tmp_path).code == 0
