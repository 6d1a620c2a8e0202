"""Which file of a project a module is that another file imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.module_files import ModuleFiles


@pytest.mark.parametrize(
    ("folder", "name", "found"),
    [
        ("part", "tools.options", "part/src/tools/options.py"),
        ("part/scripts", "tools", "part/src/tools/__init__.py"),
        ("part", "other", "src/other.py"),
        ("part", "own", "part/own.py"),
        ("", "tools", None),
        ("third", "tools", None),
        ("part/src/tools", "options", "part/src/tools/options.py"),
    ],
)
def test_the_sources_next_to_a_script(
    folder: str, name: str, found: str | None, tmp_path: Path
) -> None:
    for path in (
        "part/src/tools/__init__.py",
        "part/src/tools/options.py",
        "part/src/own.py",
        "part/own.py",
        "part/scripts/run.py",
        "src/other.py",
        "third/run.py",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    located = ModuleFiles(tmp_path).locate(tmp_path / folder, name)
    assert located == (None if found is None else tmp_path / found)
