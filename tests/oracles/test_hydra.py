"""What Hydra itself composes: the same files, fed to it and to the linter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from precision_lint.facts.frameworks.hydra import composed
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping, Opaque, Scalar, Sequence, Value
from tests.context import recording
from tests.facts.frameworks.test_runs import project

hydra = pytest.importorskip("hydra")
omegaconf = pytest.importorskip("omegaconf")

SELF = "defaults:\n  - trainer: a\n  - _self_\n"


def ours(root: Path, name: str = "config") -> tuple[object, bool]:
    project = recording(root, ())
    files = project.config_files
    file = files.at(root / f"{name}.yaml")
    assert file is not None
    whole, is_complete = composed(
        file, lambda path: files.at(path) if path.is_file() else None, project
    )
    return plain(whole.documents[0], whole), is_complete


def plain(value: Value, whole: ParsedConfig) -> Any:
    match value:
        case Scalar():
            return value.value
        case Sequence():
            return [plain(item, whole) for item in value.items]
        case Mapping():
            names = {entry.name for each in _all(value) for entry in each.entries}
            members = {name: value.get(name) for name in sorted(filter(None, names))}
            return {
                name: plain(member.entry.value, whole)
                for name, member in members.items()
                if member is not None and name != "defaults"
            }
        case Opaque():
            return ...


def _all(mapping: Mapping) -> list[Mapping]:
    return [mapping, *(inner for below in mapping.merged for inner in _all(below))]


def theirs(root: Path, name: str = "config") -> object:
    with hydra.initialize_config_dir(str(root), version_base=None):
        return omegaconf.OmegaConf.to_container(hydra.compose(name))


CASES = {
    "own is stronger": {
        "config": "defaults:\n  - trainer: a\ntrainer: {p: 1}\n",
        "trainer/a": "p: 2\nq: 2\n",
    },
    "own is weaker": {
        "config": "defaults:\n  - _self_\n  - trainer: a\ntrainer: {p: 1}\n",
        "trainer/a": "p: 2\nq: 2\n",
    },
    "a list of a group's file": {
        "config": SELF,
        "trainer/a": "defaults:\n  - base\n  - /db: m\n  - sub: s\n  - sub@other: s\n"
        "  - /db@_global_.glob: m\n  - /db@_here_: m\n  - _self_\np: 1\n",
        "trainer/base": "p: 2\nq: 2\n",
        "trainer/sub/s": "v: 1\n",
        "db/m": "d: 1\n",
    },
    "overridden elsewhere": {
        "config": "defaults:\n  - trainer: a\n  - exp: e\n  - _self_\n",
        "exp/e": "# @package _global_\ndefaults:\n  - override /trainer: b\ntrainer:\n  p: 3\n",
        "trainer/a": "p: 1\nz: 1\n",
        "trainer/b": "p: 2\nq: 2\n",
    },
    "overridden in its own list": {
        "config": "defaults:\n  - trainer: a\n  - override trainer/sub: t\n  - _self_\n",
        "trainer/a": "defaults:\n  - sub: s\n  - _self_\np: 1\n",
        "trainer/sub/s": "v: 1\n",
        "trainer/sub/t": "v: 2\n",
    },
    "several of a group": {
        "config": "defaults:\n  - trainer: [a, b]\n  - _self_\n",
        "trainer/a": "p: 1\nq: 1\n",
        "trainer/b": "p: 2\nr: [1]\n",
    },
    "none of a group": {"config": "defaults:\n  - trainer: null\n  - _self_\nx: 1\n"},
    "optional": {"config": "defaults:\n  - optional trainer: z\n  - _self_\nx: 1\n"},
    "a package in the file": {"config": SELF, "trainer/a": "# @package foo.bar\np: 1\n"},
    "a package in a file's file": {
        "config": SELF,
        "trainer/a": "defaults:\n  - sub: s\n  - _self_\np: 1\n",
        "trainer/sub/s": "\n# @package foo\nv: 1\n",
    },
    "a package behind a comment": {
        "config": SELF,
        "trainer/a": "# of mine\n# @package foo\np: 1\n",
    },
    "a package of the first file": {
        "config": f"# @package foo\n{SELF}x: 1\n",
        "trainer/a": "p: 1\n",
    },
    "a package of the list over that of the file": {
        "config": "defaults:\n  - trainer@here: a\n  - _self_\n",
        "trainer/a": "# @package foo\np: 1\n",
    },
    "without a group": {
        "config": "defaults:\n  - base.yaml\n  - _self_\nx: [1]\ny: {a: 1}\n",
        "base": "x: [3, 4]\ny: {b: 2}\nz: null\n",
    },
    "a path": {
        "config": "defaults:\n  - trainer/a\n  - /db/m\n  - _self_\n",
        "trainer/a": "y: 1\n",
        "db/m": "z: 1\n",
    },
    "mappings over all else": {
        "config": "defaults:\n  - b0\n  - b1\n  - b2\n",
        "b0": "t: {b: 2}\nu: {b: 2}\nv: 2\n",
        "b1": "t: 3\nu: null\nv: 2\n",
        "b2": "t: {a: 1}\nu: {a: 1}\nv: {a: 1}\n",
    },
    "all else over mappings": {
        "config": f"{SELF}trainer: null\nx: 2\n",
        "trainer/a": "p: 1\n",
    },
    "merge keys": {
        "config": f"{SELF}base: &b {{p: 1, q: 1}}\ntrainer:\n  <<: *b\n  q: 2\n",
        "trainer/a": "p: 3\nq: 3\nr: 3\n",
    },
    "Hydra's own": {
        "config": "defaults:\n  - _self_\n  - override hydra/job_logging: none\nx: 1\n",
    },
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_composed_is_what_hydra_composes(name: str, tmp_path: Path) -> None:
    project(tmp_path, {f"{path}.yaml": text for path, text in CASES[name].items()})
    assert ours(tmp_path) == (theirs(tmp_path), True)


KEYS = st.sampled_from("pqt")
LEAVES = st.one_of(st.integers(0, 3), st.none(), st.lists(st.integers(0, 3), max_size=2))
INNER = st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=4)
TREES = st.dictionaries(KEYS, INNER, max_size=3)
PACKAGES = st.sampled_from(["", "@p", "@_global_", "@_here_", "@p.q", "@_global_.t"])


@st.composite
def projects(draw: st.DrawFn) -> dict[str, str]:
    """Up to three layers of files; each names some of the files below it.

    No file is named twice: Hydra 1.3 hands on what the first place made of it.
    """
    files: dict[str, str] = {}
    below: list[tuple[str, str]] = []
    used: set[tuple[str, str]] = set()
    for level, group in enumerate(("p/t", "p", "")):
        names = ["config"] if not group else ["a", "b"]
        made = []
        for name in names:
            items: list[object] = []
            taken = set()
            for its_group, its_name in below if draw(st.booleans()) else ():
                package = draw(PACKAGES)
                if (its_group, package) in taken or (its_group, its_name) in used:
                    continue
                taken.add((its_group, package))
                used.add((its_group, its_name))
                form = draw(st.sampled_from(["group", "path"]))
                if form == "group":
                    items.append({f"/{its_group}{package}": its_name})
                else:
                    items.append(f"/{its_group}/{its_name}{package}")
            position = draw(st.integers(0, len(items) + 1))
            if items and position <= len(items):
                items.insert(position, "_self_")
            tree = draw(TREES)
            body = {"defaults": items, **tree} if items else tree
            header = draw(st.sampled_from(["", "", "# @package t\n", "# @package _global_\n"]))
            path = f"{group}/{name}" if group else name
            files[path] = (header if level < 2 else "") + yaml.safe_dump(body, sort_keys=False)
            made.append((group, name))
        below = made
    return files


@settings(max_examples=150, deadline=None)
@given(files=projects())
def test_random_compositions_are_hydras(
    files: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("conf")
    project(root, {f"{path}.yaml": text for path, text in files.items()})
    try:
        expected = theirs(root)
    except Exception:  # two of one package, say: nothing runs
        ours(root)
        return
    assert ours(root) == (expected, True)
