"""Findings on lines that changed since a revision of git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from precision_lint.engine.since import changed_rows
from tests.cli.running import BAD, CLEAN, Ran, codes, run

USER = "import torch\nfrom helper import made\n\nprint(made().numpy())\n"
HELPER = "import torch\n\n\ndef made():\n    return torch.zeros(2, dtype=torch.{})\n"


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", root, *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a finding in `old.py`, and none in the other files."""
    git(tmp_path, "init", "-q")
    (tmp_path / "old.py").write_text(BAD)
    (tmp_path / "clean.py").write_text(CLEAN)
    (tmp_path / "helper.py").write_text(HELPER.format("float32"))
    (tmp_path / "user.py").write_text(USER)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "start")
    return tmp_path


def since(root: Path, *arguments: str, revision: str = "HEAD", cwd: Path | None = None) -> Ran:
    options = ("--no-cache", "--output-format", "concise")
    return run("--since", revision, *options, *arguments, cwd=cwd or root)


def test_lines_that_did_not_change_are_silent(root: Path) -> None:
    ran = since(root)
    assert (ran.code, codes(ran)) == (0, [])
    assert "1 finding not shown: on lines that did not change since HEAD" in ran.err
    (root / "old.py").write_text("# a line above\n" + BAD)
    assert since(root).code == 0


def test_a_line_that_changed(root: Path) -> None:
    (root / "old.py").write_text(BAD.replace("# for the plot", "# for the table"))
    assert codes(since(root)) == ["MP101"]


def test_a_new_file_is_all_new(root: Path) -> None:
    (root / "new.py").write_text(BAD)
    ran = since(root)
    assert codes(ran) == ["MP101"]
    assert ran.out.startswith("new.py:4:")


def test_the_cause_changed_and_not_the_place(root: Path) -> None:
    (root / "helper.py").write_text(HELPER.format("bfloat16"))
    ran = since(root)
    assert codes(ran) == ["MP101"]
    assert ran.out.startswith("user.py:4:")


def test_a_line_that_was_removed(root: Path) -> None:
    cast = BAD.replace("array =", "scores = scores.float()\narray =")
    (root / "old.py").write_text(cast)
    git(root, "commit", "-qam", "a cast")
    (root / "old.py").write_text(BAD)
    assert codes(since(root)) == ["MP101"]
    assert since(root, revision="HEAD~1").code == 0


def test_line_ends_are_no_change(root: Path) -> None:
    (root / "old.py").write_bytes(BAD.replace("\n", "\r\n").encode())
    assert since(root).code == 0


def test_from_a_folder_of_the_repository(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "new.py").write_text(BAD)
    ran = since(root, cwd=root / "sub")
    assert codes(ran) == ["MP101"]


@pytest.mark.parametrize("revision", ["nothing", "--all", "HEAD^{blob}"])
def test_what_is_no_revision(root: Path, revision: str) -> None:
    ran = run(f"--since={revision}", "--no-cache", cwd=root)
    assert ran.code == 2
    assert f"--since {revision}: " in ran.err


def test_without_a_repository(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(BAD)
    assert since(tmp_path).code == 2


def test_fixes_are_made_without_it(root: Path) -> None:
    assert since(root, "--fix").code == 2
    (root / ".precision-lint.toml").write_text("fix = true\n")
    assert since(root).code == 2
    assert (root / "old.py").read_text() == BAD


def test_no_program_of_the_repository_runs(root: Path) -> None:
    git(root, "config", "core.fsmonitor", "touch fsmonitor-ran; false")
    git(root, "config", "filter.x.clean", "touch filter-ran; cat")
    git(root, "config", "diff.x.textconv", "touch textconv-ran; cat")
    (root / ".gitattributes").write_text("*.py filter=x diff=x\n")
    (root / "old.py").write_text(BAD.replace("# for the plot", ""))
    assert codes(since(root)) == ["MP101"]
    assert not list(root.glob("*-ran"))


def test_changed_rows() -> None:
    assert changed_rows(b"a\nb\nc\n", b"a\nx\nc\n") == {2}
    assert changed_rows(b"a\nb\nc\n", b"a\nc\n") == {1, 2}
    assert changed_rows(b"a\n", b"a\n") == set()
    assert changed_rows(None, b"a\nb\n") >= {1, 2, 3}
