"""The hooks, as pre-commit runs them: cloned, installed, and given the files of a commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.running import BAD, CLEAN, FIXED, project

ROOT = Path(__file__).parents[2]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
KINDS = ["python", "pyi", "jupyter", "yaml", "json", "toml", "shell", "dotenv"]


def test_the_manifest() -> None:
    assert [hook["id"] for hook in HOOKS] == ["precision-lint", "precision-lint-fix"]
    for hook in HOOKS:
        assert hook["language"] == "python"
        assert hook["require_serial"] is True
        assert hook["types_or"] == KINDS
        assert hook["args"] == []  # what users give in `args` must not replace --force-exclude
    assert [hook["entry"] for hook in HOOKS] == [
        "precision-lint --force-exclude",
        "precision-lint --force-exclude --fix --exit-non-zero-on-fix",
    ]


def test_the_link_that_people_look_for() -> None:
    link = ROOT / "pre-commit-hooks.yaml"
    assert link.is_symlink()
    assert os.readlink(link) == ".pre-commit-hooks.yaml"


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def committed(root: Path) -> str:
    """The hash of a commit of everything in a folder."""
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--no-verify", "-m", "all")
    return git(root, "rev-parse", "HEAD").strip()


@pytest.fixture(scope="module")
def linter(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository of the linter as it stands here, and its commit."""
    root = tmp_path_factory.mktemp("linter")
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists() and not name.startswith(("tests/", "docs/", "examples/")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name, follow_symlinks=False)
    return root, committed(root)


@pytest.fixture
def consumer(tmp_path: Path, linter: tuple[Path, str]) -> Path:
    url, revision = linter
    hooks = [{"id": hook["id"], "stages": [stage]} for hook, stage in
             zip(HOOKS, ["pre-commit", "manual"], strict=True)]  # fmt: skip
    config = {"repos": [{"repo": str(url), "rev": revision, "hooks": hooks}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    hostile = "raise SystemExit('the linted project runs')\n"
    project(tmp_path, dict.fromkeys(["click.py", "struct.py", "rules/__init__.py"], hostile))
    committed(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_commits(consumer: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")

    def pre_commit(*arguments: str) -> subprocess.CompletedProcess[str]:
        git(consumer, "add", "-A")
        return subprocess.run(
            [sys.executable, "-I", "-m", "pre_commit", "run", *arguments],
            cwd=consumer,
            env={**os.environ, "PRE_COMMIT_HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )

    (consumer / "a.py").write_text(BAD)
    (consumer / "build").mkdir()
    (consumer / "build/b.py").write_text(BAD)
    blocked = pre_commit()
    assert blocked.returncode == 1, blocked.stdout + blocked.stderr
    assert "exit code: 1" in blocked.stdout
    assert "a.py:4:9" in blocked.stdout
    assert "build/b.py" not in blocked.stdout
    assert (consumer / "a.py").read_text() == BAD

    fixing = pre_commit("--hook-stage", "manual")
    assert fixing.returncode == 1
    assert "files were modified by this hook" in fixing.stdout
    assert (consumer / "a.py").read_text() == FIXED
    assert (consumer / "build/b.py").read_text() == BAD
    assert pre_commit("--hook-stage", "manual").returncode == 0
    assert pre_commit().returncode == 0

    (consumer / "a.py").write_text(CLEAN)
    (consumer / "with space.py").write_text(CLEAN)
    (consumer / "notes.ipynb").write_text('{"cells": []}')
    (consumer / ".env").write_text("A=1\n")
    clean = pre_commit("--all-files")
    assert (clean.returncode, "Passed" in clean.stdout) == (0, True), clean.stdout
