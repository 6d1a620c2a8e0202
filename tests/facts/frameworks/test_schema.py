"""The schema of the framework tables says what the loader says."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from precision_lint.facts.frameworks.table import TableError, framework

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parents[3] / "precision_lint/facts/frameworks/tables"
SCHEMA = Draft202012Validator(json.loads((FOLDER / "schema.json").read_text("utf-8")))
TABLES = sorted(FOLDER.glob("*.toml"))
Table = dict[str, Any]


def is_loaded(table: Table) -> bool:
    try:
        framework("case", table)
    except TableError:
        return False
    return True


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA.schema)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_table_fits(path: Path) -> None:
    table = tomllib.loads(path.read_text("utf-8"))
    assert [error.message for error in SCHEMA.iter_errors(table)] == []
    assert is_loaded(table)


GOOD: Table = {
    "name": "Case",
    "library": "case",
    "source": "case 1.0",
    "read": [{"form": "mapping", "own": ["a"], "in-python": True}],
    "keys": {"a": {"role": "compute", "kind": "boolean", "default": False}, "b.c": {}},
    "link": [{"name": "other", "to": "self", "key": "b.c", "merges": True}],
    "conflict": [
        {
            "rule": "fp16-with-bf16",
            "verdict": "harmful",
            "when": {"a": True, "b.c": ["x", 1], "d": {"not": "y"}, "e": {"above": 1.5}},
            "unless": {"other:a": {"present": False}},
            "message": "`a` is {a}",
            "says": "no",
            "source": "case.py:1",
            "severity": "info",
            "confidence": "medium",
            "repair": {"set": {"a": False}, "safety": "unsafe", "message": "Switch it off"},
        }
    ],
}


def test_what_is_good_is_good_for_both() -> None:
    assert is_loaded(GOOD)
    assert SCHEMA.is_valid(GOOD)


def without(*path: str | int) -> Callable[[Table], None]:
    def change(table: Table) -> None:
        value: Any = table
        for step in path[:-1]:
            value = value[step]
        del value[path[-1]]

    return change


def given(value: object, *path: str | int) -> Callable[[Table], None]:
    def change(table: Table) -> None:
        target: Any = table
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        without("name"),
        without("library"),
        without("source"),
        without("read", 0, "form"),
        without("link", 0, "to"),
        without("conflict", 0, "rule"),
        without("conflict", 0, "verdict"),
        without("conflict", 0, "says"),
        without("conflict", 0, "source"),
        given("x", "colour"),
        given("case", "slug"),
        given("x", "read", 0, "colour"),
        given("telepathy", "read", 0, "form"),
        given("x", "keys", "a", "colour"),
        given("a", "keys", "a", "name"),
        given("power", "keys", "a", "role"),
        given("bool", "keys", "a", "kind"),
        given("x", "link", 0, "colour"),
        given("fatal", "conflict", 0, "verdict"),
        given("fatal", "conflict", 0, "severity"),
        given("sure", "conflict", 0, "confidence"),
        given("sure", "conflict", 0, "repair", "safety"),
        given("x", "conflict", 0, "repair", "colour"),
        given({"nearly": 1}, "conflict", 0, "when", "a"),
    ],
)
def test_what_is_bad_is_bad_for_both(change: Callable[[Table], None]) -> None:
    table = copy.deepcopy(GOOD)
    change(table)
    assert not is_loaded(table)
    assert not SCHEMA.is_valid(table)
