"""The incidents that the rules about configurations start from, where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.source.text.errors import Unparsable
from tests.source.config.reading import config, findings, fixed

TREES = Path(__file__).parents[3].parent / "shared" / "cases" / "trees"
FORMATS = {
    ".env": "shell", ".sh": "shell", ".slurm": "shell",
    ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml",
}  # fmt: skip
SEEDS = {
    "simpletuner-env": [("MP701", "config.env", 24)],
    "simpletuner-json": [("MP701", "config.json", 6)],
    "simpletuner-toml": [("MP701", "config.toml", 5)],
    "st-854": [("MP701", "config/config.env", 44)],
    "hf-yaml": [("MP702", "train_config.yaml", 9)],
}

pytestmark = pytest.mark.skipif(not TREES.is_dir(), reason="the trees are not at hand")


def found(tree: str) -> list[tuple[str, str, int]]:
    """The findings of the two rules that have seeds among these trees."""
    result = []
    for path in sorted((TREES / tree).rglob("*")):
        if path.suffix not in FORMATS:
            continue
        try:
            file = config(path.read_bytes(), FORMATS[path.suffix])
        except Unparsable:
            continue
        name = path.relative_to(TREES / tree).as_posix()
        result += [(f.code, name, f.place.start.row) for f in findings(file)]
    return [item for item in result if item[0] in ("MP701", "MP702")]


@pytest.mark.parametrize("tree", SEEDS)
def test_seeds_are_found_and_their_repair_is_silent(tree: str) -> None:
    assert found(tree) == SEEDS[tree]
    assert found(f"{tree}-ok") == []


@pytest.mark.parametrize("tree", [name for name in SEEDS if name != "hf-yaml"])
def test_the_fix_is_the_repair(tree: str) -> None:
    ((_, name, _),) = SEEDS[tree]
    file = config((TREES / tree / name).read_bytes(), FORMATS[Path(name).suffix])
    assert fixed(file).encode() == (TREES / f"{tree}-ok" / name).read_bytes()


def test_everything_that_is_fine_is_silent() -> None:
    fine = [tree.name for tree in TREES.iterdir() if tree.name.startswith("neg-")]
    assert {tree: found(tree) for tree in fine} == {tree: [] for tree in fine}
