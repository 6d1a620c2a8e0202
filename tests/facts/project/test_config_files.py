"""The names of configuration files that a text refers to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from precision_lint.facts.project.config_files import ConfigFiles
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


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("/scratch/me/project/conf/a.yaml", "conf/a.yaml"),
        ("/data/conf/deep/b.yaml", "conf/deep/b.yaml"),
        ("/scratch/a.yaml", None),
        ("/scratch/other/top.yaml", None),
        ("/scratch/me/conf/none.yaml", None),
        ("/root/own/top.yaml", "top.yaml"),
        ("/own/top.yaml", "top.yaml"),
        ("/root/own/none.yaml", None),
        ("/root/own/sub/top.yaml", None),
        ("/root/owner/top.yaml", None),
        ("/top.yaml", None),
    ],
)
def test_paths_of_another_machine(reference: str, found: str | None, tmp_path: Path) -> None:
    root, files = laid_out(tmp_path)
    assert files.find(reference, root / "run.sh") == (root / found if found else None)


@pytest.mark.parametrize(
    ("directory", "reference", "found"),
    [
        ("/home/me/own/conf", "deep/b.yaml", "conf/deep/b.yaml"),
        ("/home/me/own", "top.yaml", "top.yaml"),
        ("/home/me/own/", "conf/a.yaml", "conf/a.yaml"),
        ("/home/me/other/conf", "b.yaml", None),
        ("/home/me/other/conf", "deep/none.yaml", None),
        ("/home/me/own/conf", "c.yaml", None),
        ("/home/me/other", "top.yaml", "top.yaml"),  # where the script is, as ever
    ],
)
def test_folders_of_another_machine(
    directory: str, reference: str, found: str | None, tmp_path: Path
) -> None:
    root, files = laid_out(tmp_path)
    known = files.find(reference, root / "run.sh", directory)
    assert known == (root / found if found else None)


def laid_out(folder: Path) -> tuple[Path, ConfigFiles]:
    root = folder / "own"
    for name in ("conf/a.yaml", "conf/deep/b.yaml", "top.yaml"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a: 1\n")
    return root, ProjectFacts(Project(root)).recording().config_files
