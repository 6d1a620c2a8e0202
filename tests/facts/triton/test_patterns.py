"""The 87 measured patterns: what the table, the linter and the compilers say is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from precision_lint.facts.triton.language import NEWEST
from tests.facts.triton.agreement import disagreements, judgement, refused_patterns
from tests.facts.triton.patterns import PATTERNS

ROOT = Path(__file__).resolve().parents[3]
MEASURED = ROOT.parent / "shared" / "facts" / "triton_typing.json"
RECORD = json.loads((ROOT / "benchmarks" / "triton-versions.json").read_text())
"""What compilers of several versions said, written by `benchmarks/triton_versions.py`."""

each = pytest.mark.parametrize("name", PATTERNS)


@pytest.mark.skipif(not MEASURED.exists(), reason="the measurements are not here")
def test_none_is_left_out():
    assert set(PATTERNS) == set(json.loads(MEASURED.read_text())["patterns"])


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    pytest.importorskip("triton")
    return refused_patterns(tmp_path_factory.mktemp("patterns"))


@each
def test_the_compiler_says_what_the_table_says(name, refused):
    pattern = PATTERNS[name]
    assert refused[name].keys() == pattern.fails_for
    assert set(refused[name].values()) <= {pattern.family, "any"}


@each
def test_the_linter_says_what_the_table_says(name):
    pattern = PATTERNS[name]
    expected = dict.fromkeys(pattern.fails_for, pattern.family)
    assert disagreements(expected, judgement(pattern.source, NEWEST)) == []


@each
@pytest.mark.parametrize("triton", RECORD["triton"])
def test_the_linter_says_what_every_recorded_version_said(name, triton):
    major, minor, *_ = map(int, triton.split("."))
    refused = RECORD["refused"][name][triton]
    assert disagreements(refused, judgement(PATTERNS[name].source, (major, minor))) == []
