"""Every pitfall of the catalogue: it happens, its twin is right, and what the linter says."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.pitfalls.cases import FOLDER, Case, cases
from tests.pitfalls.found import LEVELS, counts, expected, findings, found
from tests.pitfalls.running import run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CATALOGUE = FOLDER.parent.parent / "docs" / "pitfalls.toml"

with_cases = pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)


def test_every_pitfall_has_a_case() -> None:
    names = tomllib.loads(CATALOGUE.read_text("utf-8")).keys() - {"families"}
    assert [case.name for case in cases()] == sorted(names)
    assert sum(case.is_frequent for case in cases()) == 50


@with_cases
def test_a_case_is_whole(case: Case) -> None:
    assert case.bad
    assert case.good
    assert case.bad != case.good
    said = bool(case.raises or case.warns or case.check)
    assert said != bool(case.not_run), "either it is run, or the case says why it is not"


@pytest.mark.parametrize(
    "case", [case for case in cases() if not case.not_run], ids=lambda case: case.name
)
def test_the_bad_program_fails_and_the_good_one_does_not(case: Case, tmp_path: Path) -> None:
    for package in ("torch", *case.needs):
        if find_spec(package) is None:
            pytest.skip(f"needs {package}")
    import torch

    if torch.cuda.is_available():
        pytest.skip("the cases say what happens on the CPU")
    folders = {name: tmp_path / name for name in ("bad", "good")}
    for folder in folders.values():
        folder.mkdir()
    bad, good = run(case, case.bad, folders["bad"]), run(case, case.good, folders["good"])
    assert not good.error
    if case.raises:
        assert case.raises in bad.error
    else:
        assert not bad.error
    if case.warns:
        assert any(case.warns in each for each in bad.warnings), bad.warnings
        assert not any(case.warns in each for each in good.warnings)
    exec(case.check, {"bad": bad.variables, "good": good.variables})


@with_cases
@pytest.mark.parametrize("level", LEVELS)
def test_the_linter_says_what_is_recorded(case: Case, level: str, tmp_path: Path) -> None:
    recorded = expected()
    places = recorded["default"].get(case.name, [])
    if level == "preview":
        added = recorded["preview"].get(case.name, [])
        better = {place.partition(" ")[2] for place in added}  # what others report, they yield
        places = sorted([*added, *(one for one in places if one.partition(" ")[2] not in better)])
    assert found(case, tmp_path / "bad", level) == places
    assert not findings(case.good, tmp_path / "good", level)


def test_how_many_are_found() -> None:
    """Raise these numbers when a rule finds more."""
    assert counts(expected()) == {"default": (80, 44), "preview": (90, 48)}
