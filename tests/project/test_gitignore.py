"""`.gitignore` as git reads it: git itself is the oracle."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from precision_lint.project.discovery import files
from precision_lint.project.gitignore import Ignores, parse

FOLDERS = ["src", "src/deep", "data", "data/raw", "out.d", "a b"]
NAMES = ["a.py", "b.py", "train.yaml", "x.json"]
PARTS = st.sampled_from(
    ["src", "deep", "data", "raw", "*.d", "a b", "*", "**", "*.py", "a.py", "?.py"]
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line as people write it."""
    body = "/".join(draw(st.lists(PARTS, min_size=1, max_size=3)))
    before = draw(st.sampled_from(["", "", "/", "!"]))
    return before + body + draw(st.sampled_from(["", "", "/"]))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", root], check=True)
    for folder in ["", *FOLDERS]:
        (root / folder).mkdir(exist_ok=True)
        for name in NAMES:
            (root / folder / name).write_text("")
    return root


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(patterns=st.lists(lines(), min_size=1, max_size=4))
def test_git_agrees(repository: Path, patterns: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(patterns), "utf-8")
    command = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=repository, capture_output=True, check=True)
    expected = set(done.stdout.decode().split("\0")) - {"", ".gitignore"}
    found = {path.relative_to(repository).as_posix() for path in files([repository], repository)}
    assert found == expected


@pytest.mark.parametrize(
    ("line", "path", "is_folder"),
    [
        ("build/", "build", True),
        ("build/", "deep/build", True),
        ("/build", "build", False),
        ("*.log", "deep/er/x.log", False),
        ("data/**", "data/x", False),
        ("**/out", "a/b/out", True),
        ("a/**/b", "a/b", False),
        ("a/**/b", "a/x/y/b", False),
        ("trailing ", "trailing", False),
        ("kept\\ ", "kept ", False),
        ("\\#x", "#x", False),
    ],
)
def test_what_is_ignored(line: str, path: str, is_folder: bool) -> None:
    assert Ignores(parse([line.encode()])).decide(path, is_folder) is True


@pytest.mark.parametrize(
    ("line", "path", "is_folder"),
    [
        ("build/", "build", False),
        ("/build", "deep/build", True),
        ("a/b", "x/a/b", False),
        ("a*b", "a/b", False),
        ("/", "a", True),
        ("[a", "[a", False),
    ],
)
def test_what_no_line_speaks_of(line: str, path: str, is_folder: bool) -> None:
    assert Ignores(parse([line.encode()])).decide(path, is_folder) is None


def test_the_last_line_that_speaks_decides() -> None:
    ignores = Ignores(parse([b"*.py", b"!a.py", b"/sub/a.py"]))
    assert ignores.decide("b.py", False) is True
    assert ignores.decide("a.py", False) is False
    assert ignores.decide("sub/a.py", False) is True


def test_files_are_kept_in_folders_that_are_otherwise_ignored() -> None:
    ignores = Ignores(parse([b"data/**", b"!data/keep.py"]))
    assert ignores.decide("data", True) is None
    assert ignores.decide("data/raw", True) is True
    assert ignores.decide("data/keep.py", False) is False
    assert ignores.decide("data/other.py", False) is True
