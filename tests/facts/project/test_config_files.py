"""The names of configuration files that a text refers to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.project.files import Project


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("--config ds.json --more 'a/b/zero-3.yaml'", ["ds.json", "zero-3.yaml"]),
        ("base.conf.yaml", ["base.conf.yaml"]),
        ("base.config.old", ["base.config"]),
        ("the suffix .yaml, ds.jsonl, a.b", []),
        ("a.json b.json\na.json", ["a.json", "b.json"]),
        (f"{'n' * 200}.toml {'m' * 201}.toml", ["n" * 200 + ".toml"]),
    ],
)
def test_references(text: str, names: Sequence[str], tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(text)
    for name in names:
        (tmp_path / name).write_text("{}")
    files = ProjectFacts(Project(tmp_path)).config_files
    every = {*names, "base.conf", ".yaml", "ds.json", "b.yaml", f"{'m' * 201}.toml"}
    assert {name for name in every if files.referring(tmp_path / name)} == set(names)
