"""Which names the top level of a file leaves without a meaning."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.facts.triton.module import Module
from precision_lint.source.text.text import SourceText

BINDING = {
    "an assignment": "y = 1",
    "in a branch": "if x:\n    y = 1",
    "`:=`": "print(y := 1)",
    "a loop": "for y in x:\n    pass",
    "a function": "def y(): ...",
    "an import": "from x import z as y",
    "a star": "from x import *",
    "`global` in a function": "def f():\n    global y\n    y = 1",
}
OTHERS = {
    "nothing": "z = 1",
    "a local variable": "def f():\n    y = 1",
    "an attribute": "x.y = 1",
    "a comprehension": "[y for y in x]",
}


def _lacks(source: str, name: str = "y") -> bool:
    text = SourceText.from_bytes(Path("/nowhere/a.py"), source.encode())
    return Module(ast.parse(source), text).lacks(name)


@pytest.mark.parametrize("source", BINDING.values(), ids=BINDING.keys())
def test_a_name_that_is_bound(source: str) -> None:
    assert not _lacks(source)


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS.keys())
def test_a_name_that_is_not_bound(source: str) -> None:
    assert _lacks(source)
    assert not _lacks(source, "range")
