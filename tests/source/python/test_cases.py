"""Which case of a `match` runs for a value that is known."""

from __future__ import annotations

import ast

import pytest

from precision_lint.source.python.cases import runs_case


@pytest.mark.parametrize(
    ("patterns", "value", "expected"),
    [
        (["'a'", "'b'", "_"], "a", [True, False, False]),
        (["'a'", "'b'", "_"], "b", [False, True, False]),
        (["'a'", "'b'", "_"], "c", [False, False, True]),
        (["'a' | 'b'", "other"], "b", [True, False]),
        (["'a' | 'b' as one", "None"], None, [False, True]),
        (["None", "True", "1"], True, [False, True, False]),
        (["'a' if x", "'a'", "_"], "a", [None, None, None]),
        (["'a' if x", "'b'", "_"], "b", [False, True, False]),
        (["Kind.a", "'b'", "_"], "b", [None, None, None]),
        (["Kind.a", "'b'", "_"], "c", [None, False, None]),
        (["['a', *_]", "'a'"], "a", [None, None]),
        (["'a' | Kind.b", "_"], "b", [None, None]),
    ],
)
def test_runs(patterns: list[str], value: object, expected: list[bool | None]) -> None:
    text = "match x:\n" + "".join(f"    case {each}:\n        pass\n" for each in patterns)
    statement = ast.parse(text).body[0]
    assert isinstance(statement, ast.Match)
    cases = statement.cases
    assert [runs_case(cases, each, value) for each in cases] == expected
