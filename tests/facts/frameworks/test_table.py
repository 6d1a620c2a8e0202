"""The tables: strictly read, complete, and each conflict with a case that shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from precision_lint.engine import registry
from precision_lint.facts.context import ConfigFile
from precision_lint.facts.frameworks.table import Conflict, TableError, framework, frameworks
from precision_lint.facts.frameworks.verdicts import Verdict, verdicts
from precision_lint.model.rule import Rule
from precision_lint.project.discovery import files, kind_of
from tests import cases
from tests.context import recording

GOOD: dict[str, Any] = {
    "name": "A",
    "library": "a",
    "source": "a 1.0",
    "keys": {"fp16": {"role": "compute", "kind": "boolean", "default": False}},
    "conflict": [
        {
            "rule": "fp16-with-bf16",
            "verdict": "error",
            "when": {"fp16": True},
            "message": "m",
            "says": "s",
            "source": "a.py:1",
        }
    ],
}


def test_a_table() -> None:
    made = framework("a", GOOD)
    assert made.keys["fp16"].default is False
    assert made.conflicts[0].when["fp16"].one_of == (True,)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"colour": 1}, "unknown key 'colour'"),
        ({"keys": {"fp16": {"rule": "x"}}}, "keys.'fp16': unknown key 'rule'"),
        ({"keys": {"fp16": {"kind": "bool"}}}, "kind = 'bool' is none of boolean,"),
        ({"read": [{"form": "file"}]}, "form = 'file' is none of mapping,"),
        ({"conflict": [{"rule": "x", "message": "m"}]}, "conflict 'm'"),
        ({"conflict": [{**GOOD["conflict"][0], "confidence": "sure"}]}, "'sure' is no confidence"),
        ({"conflict": [{**GOOD["conflict"][0], "when": {"a": {"is": 1}}}]}, "unknown key 'is'"),
        ({"link": [{"name": "a"}]}, "link:"),
    ],
)
def test_a_table_that_is_wrong_says_where(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(TableError, match=re.escape(problem)) as caught:
        framework("a", {**GOOD, **change})
    assert str(caught.value).startswith("a.toml: ")


ALL = [
    pytest.param(slug, conflict, id=f"{slug}: {conflict.message[:60]}")
    for slug, one in sorted(frameworks().items())
    for conflict in one.conflicts
    if not one.extends or conflict not in frameworks()[one.extends].conflicts
]


@pytest.mark.parametrize(("slug", "conflict"), ALL)
def test_names_in_a_conflict(slug: str, conflict: Conflict) -> None:
    """Its rule exists, and its keys are in the table, or in that of a link."""
    one = frameworks()[slug]
    assert registry.rule(conflict.rule).code.startswith("MP7")
    names = [*conflict.when, *conflict.unless, *conflict.at]
    if conflict.repair:
        names += [*conflict.repair.remove, *conflict.repair.set]
    for name in names:
        owner, key = one, name
        while ":" in key:
            link, _, key = key.partition(":")
            links = {
                each.name: frameworks()[owner.slug if each.to == "self" else each.to]
                for each in owner.links
            } | {"gpu": frameworks()["gpu"]}
            assert link in links, f"{name}: {owner.slug} has no link {link!r}"
            owner = links[link]
        assert key in owner.keys, f"{name}: no key of {owner.slug}.toml"


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str, str]]:
    """What the cases of the frameworks and of the rules lead to: framework, rule, message."""
    found: set[tuple[str, str, str]] = set()
    paths = [*cases.FRAMEWORKS.glob("*.md"), *cases.RULES.glob("*.md")]
    for number, case in enumerate(case for path in sorted(paths) for case in cases.load(path)):
        if case.rule not in frameworks() and not registry.rule(case.rule).code.startswith("MP7"):
            continue
        root = tmp_path_factory.mktemp("cases") / str(number)
        (root / ".git").mkdir(parents=True)
        for name, content in case.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
        found |= set(_judged(root, case.gpu))
    return found


def _judged(root: Path, gpu: str) -> Any:
    project = recording(root, (), gpu)
    rules: list[Rule] = [rule for rule in registry.rules() if rule.code.startswith("MP7")]
    for path in files([root], root):
        parsed = project.config_files.at(path) if kind_of(path) else None
        if parsed is None:
            continue
        file = ConfigFile.of(parsed, project)
        for rule in rules:
            for verdict in verdicts(file, rule.name):
                yield _identity(verdict)


def _identity(verdict: Verdict) -> tuple[str, str, str]:
    conflict = verdict.conflict
    return conflict.rule, conflict.message, conflict.source


@pytest.mark.parametrize(("slug", "conflict"), ALL)
def test_a_case_shows_it(slug: str, conflict: Conflict, judged: set[tuple[str, str, str]]) -> None:
    assert (conflict.rule, conflict.message, conflict.source) in judged, (
        f"no case in tests/frameworks/{slug}.md shows this row"
    )


@pytest.mark.parametrize("slug", sorted(frameworks()))
def test_a_framework_has_cases(slug: str) -> None:
    path = cases.FRAMEWORKS / f"{slug}.md"
    assert path.exists()
    loaded = cases.load(path)
    if frameworks()[slug].conflicts:
        assert any(case.expected for case in loaded)
    assert any(not case.expected for case in loaded)


def test_what_a_section_is_known_to_have_are_keys() -> None:
    known = frameworks()["accelerate"].keys
    assert known["fp8_config.margin"].role == "other"
    assert frameworks()["deepspeed"].keys["fp16.hysteresis"].role == "scaling"
