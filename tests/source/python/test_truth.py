"""Whether a condition holds whose parts are known in part."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from precision_lint.source.python.truth import deciding_part, implied, truth

CONDITIONS = [
    "a",
    "not a",
    "a and b",
    "a or b",
    "not (a and b)",
    "a and not b",
    "a and (b or c)",
    "not a or (b and not c)",
]


def _parsed(condition: str) -> ast.expr:
    return ast.parse(condition, mode="eval").body


@pytest.mark.parametrize("condition", CONDITIONS)
def test_what_python_says_for_all_values_of_what_is_not_known(condition: str) -> None:
    for known in product((True, False, None), repeat=3):
        names = dict(zip("abc", known, strict=True))
        possible = product(*((True, False) if each is None else (each,) for each in known))
        outcomes = {
            bool(eval(condition, {}, dict(zip("abc", values, strict=True)))) for values in possible
        }
        found = truth(_parsed(condition), lambda part, names=names: names[ast.unparse(part)])
        assert {found} == outcomes or (found is None and len(outcomes) == 2)


@pytest.mark.parametrize(
    ("condition", "part"),
    [
        ("on and off", "off"),
        ("off or on", "on"),
        ("open and off", "off"),
        ("off or x > 1 or on", "on"),
        ("not (on and off)", "off"),
        ("on and (off or not on)", "off"),
        ("on and on", "on"),
    ],
)
def test_the_part_that_decides(condition: str, part: str) -> None:
    def of_part(each: ast.expr) -> bool | None:
        return {"on": True, "off": False}.get(ast.unparse(each))

    assert ast.unparse(deciding_part(_parsed(condition), of_part)) == part


@pytest.mark.parametrize(
    ("condition", "holds", "parts"),
    [
        ("a and not b", True, {"a": True, "b": False}),
        ("a or not b", False, {"a": False, "b": True}),
        ("not (a or b)", True, {"a": False, "b": False}),
        ("a and b", False, {"a and b": False}),
        ("a or b and c", True, {"a or (b and c)": True}),
    ],
)
def test_the_parts_that_follow(condition: str, holds: bool, parts: dict[str, bool]) -> None:
    found = implied(_parsed(condition), holds)
    assert {ast.unparse(part): is_met for part, is_met in found} == parts
