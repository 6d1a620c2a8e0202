"""Entries are added to dicts as their neighbors are written."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.fixers.entries import add_entry
from precision_lint.model.finding import apply_edits
from precision_lint.source.text.text import SourceText
from tests.context import python_file


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("d = {'a': f()}\n", "d = {'a': f(), 'n': g()}\n"),
        ('d = {"a": f(), "b": 2}\n', 'd = {"a": f(), "n": g(), "b": 2}\n'),
        (
            "d = {\n    'a': f(),  # first\n    'b': 2,\n}\n",
            "d = {\n    'a': f(),  # first\n    'n': g(),\n    'b': 2,\n}\n",
        ),
        ('d = {\n\t"a": f()\n}\n', 'd = {\n\t"a": f(),\n\t"n": g()\n}\n'),
        (
            'd = {\r\n  "a": f()  # last\r\n}\r\n',
            'd = {\r\n  "a": f(),  # last\r\n  "n": g()\r\n}\r\n',
        ),
        ('d = {\n    "a": f(), "b": 2,\n}\n', 'd = {\n    "a": f(), "n": g(), "b": 2,\n}\n'),
        ("d = {k: f()}\nx = 'a'\n", "d = {k: f(), 'n': g()}\nx = 'a'\n"),
        ('d = {**f()}\nx = "a"\n', 'd = {**f(), "n": g()}\nx = "a"\n'),
    ],
)
def test_an_entry_is_written_as_the_one_before_it(before: str, after: str) -> None:
    file = python_file(SourceText(Path("case.py"), before))
    [literal] = [node for node in file.nodes if isinstance(node, ast.Dict)]
    edits = add_entry(file, literal.keys[0], literal.values[0], "n", "g()")
    assert apply_edits(before, edits) == after
