"""What compile-time conditions say of each other."""

from __future__ import annotations

import ast

import pytest

from precision_lint.facts.triton.choices import decided, follows


def parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("known", "truth", "asked", "answer"),
    [
        ("C", True, "C", True),
        ("C", True, "D", None),
        ("not C", True, "C", False),
        ("C and D", True, "D", True),
        ("C and D", False, "D", None),
        ("C or D", False, "D", False),
        ("C or D", True, "D", None),
        ("x is None", True, "x is not None", False),
        ("x is not None", False, "x is None", True),
        ("C == 1", True, "C", True),
        ("C == 0", True, "C", False),
        ("C == 1", False, "C", None),
        ("C == 1", True, "C == 2", False),
        ("C == 1", True, "C != 2", True),
        ("C == 1", False, "C == 2", None),
        ("C", False, "C == 1", False),
        ("C", False, "C == 0", None),
        ("C", True, "C == 0", False),
        ("C > 1", True, "C > 1", True),
    ],
)
def test_what_follows(known, truth, asked, answer):
    assert decided(parse(asked), follows(parse(known), truth)) is answer
