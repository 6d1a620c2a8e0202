"""Whatever happens to the files, a run with the store reports what one without it does."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.stored_projects import EDITS, age, always_stored, build, lint, put

NAMES = sorted(EDITS)

edits = st.sampled_from([("write", name, content) for name in NAMES for content in EDITS[name]])
others = st.one_of(
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("touch"), st.sampled_from(NAMES), st.just("")),
)
changes = st.lists(
    st.lists(st.one_of(edits, edits, others), min_size=1, max_size=3), min_size=1, max_size=4
)


def change(root: Path, what: str, name: str, to: str, *, is_old: bool) -> None:
    path = root / name
    match what:
        case "write":
            put(root, name, to, is_old=is_old)
        case "delete":
            path.unlink(missing_ok=True)
        case "touch" if path.exists():
            age(path)
        case "rename" if path.exists():
            (root / to).parent.mkdir(parents=True, exist_ok=True)
            path.rename(root / to)


@pytest.mark.parametrize("jobs", [1, 2])
@settings(max_examples=12)
@given(steps=changes, is_old=st.booleans())
def test_warm_is_cold(jobs: int, steps: list[list[tuple[str, str, str]]], is_old: bool) -> None:
    folder = Path(tempfile.mkdtemp()).resolve()
    try:
        root, cache = build(folder / "project"), folder / "cache"
        with always_stored():
            assert lint(root, cache, jobs) == lint(root, None)
            for step in steps:
                for one in step:
                    change(root, *one, is_old=is_old)
                assert lint(root, cache, jobs) == lint(root, None), step
            assert lint(root, cache, jobs) == lint(root, None)
    finally:
        shutil.rmtree(folder)
