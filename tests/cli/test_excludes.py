"""Which files are read, on the command line: excludes, .gitignore, what is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import BAD, project, run


def shown(root: Path, *arguments: str) -> list[str]:
    ran = run("--show-files", *arguments, cwd=root)
    assert ran.code == 0
    return [Path(line).relative_to(root).as_posix() for line in ran.out.splitlines()]


def test_build_folders_are_passed_over(tmp_path: Path) -> None:
    names = [".venv/a.py", "node_modules/a.py", "build/a.py", "sub/dist/a.py", "a.py"]
    names += ["unsloth_compiled_cache/a.py"]
    assert shown(project(tmp_path, dict.fromkeys(names, BAD))) == ["a.py"]


@pytest.mark.parametrize("above", ["build", "dist/site-packages", ".venv"])
def test_a_project_below_a_build_folder_is_checked(above: str, tmp_path: Path) -> None:
    root = tmp_path / above / "project"
    root.mkdir(parents=True)
    project(root, {"a.py": BAD})
    assert shown(root) == ["a.py"]
    assert shown(root, "--force-exclude", "a.py") == ["a.py"]


def test_named_files_are_read_unless_excludes_are_forced(tmp_path: Path) -> None:
    project(tmp_path, {"build/a.py": BAD, "b.py": BAD})
    assert shown(tmp_path, "build/a.py") == ["build/a.py"]
    assert shown(tmp_path, "build") == ["build/a.py"]
    assert shown(tmp_path, "--force-exclude", "build/a.py", "b.py") == ["b.py"]
    assert shown(tmp_path, "--force-exclude", "build") == []
    assert shown(tmp_path, "--force-exclude", "--force-exclude", "build/a.py") == []


def test_exclude_and_extend_exclude(tmp_path: Path) -> None:
    names = ["gen/a.py", "src/gen/b.py", "src/c.py", "build/d.py"]
    project(tmp_path, dict.fromkeys(names, BAD))
    project(tmp_path, {".precision-lint.toml": 'extend-exclude = ["gen"]'})
    assert shown(tmp_path) == [".precision-lint.toml", "src/c.py"]
    project(tmp_path, {".precision-lint.toml": 'extend-exclude = ["src/gen", ".*.toml"]'})
    assert shown(tmp_path) == ["gen/a.py", "src/c.py"]
    project(tmp_path, {".precision-lint.toml": 'exclude = ["*.py"]\nextend-exclude = []'})
    assert shown(tmp_path) == [".precision-lint.toml"]
    project(tmp_path, {".precision-lint.toml": 'exclude = ["src/*", ".*.toml"]'})
    assert shown(tmp_path) == ["build/d.py", "gen/a.py"]


def test_gitignore(tmp_path: Path) -> None:
    names = ["a.py", "out/b.py", "keep/out/c.py", "logs/d.py", "logs/e.py", "x.tmp.py", "y.py"]
    project(tmp_path, dict.fromkeys(names, BAD))
    project(
        tmp_path,
        {
            ".gitignore": "# comment\n\n/out/\n*.tmp.py\nlogs/*\n!logs/e.py\n!\n\\\n",
            "keep/.gitignore": "*\n!out/\n!*.py\n",
            ".git/info/exclude": "y.py\n",
        },
    )
    assert shown(tmp_path) == ["a.py", "keep/out/c.py", "logs/e.py"]


def test_gitignore_above_the_folder_that_is_asked_for(tmp_path: Path) -> None:
    project(tmp_path, {"sub/a.py": BAD, "sub/b.py": BAD, ".gitignore": "sub/a.py\n"})
    assert shown(tmp_path, "sub") == ["sub/b.py"]
    assert shown(tmp_path, "sub/a.py") == ["sub/a.py"]


def test_a_negation_inside_wins_over_a_pattern_above(tmp_path: Path) -> None:
    project(tmp_path, {"sub/a.gen.py": BAD, "b.gen.py": BAD, ".gitignore": "*.gen.py\n"})
    assert shown(tmp_path) == []
    project(tmp_path, {"sub/.gitignore": "!*.gen.py\n"})
    assert shown(tmp_path) == ["sub/a.gen.py"]


def test_a_folder_that_is_named_is_read_though_git_ignores_it(tmp_path: Path) -> None:
    project(tmp_path, {"out/sub/a.py": BAD, ".gitignore": "/out/\n"})
    assert shown(tmp_path) == []
    assert shown(tmp_path, "out") == ["out/sub/a.py"]
    assert shown(tmp_path, "out/sub") == ["out/sub/a.py"]
