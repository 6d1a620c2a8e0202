"""What a name can be, by the assignments of its scope."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import parse_python
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.text.text import SourceText


def values(source: str) -> str:
    """What the name in `use(name)` can be, as source."""
    tree = syntax_tree(parse_python(SourceText(Path("a.py"), source)))
    (call,) = tree.calls("use")
    (name,) = call.args
    assert isinstance(name, ast.Name)
    match binding(name, tree):
        case ast.arg(arg=parameter):
            return f"parameter {parameter}"
        case None:
            return "unknown"
        case [*found]:
            return " or ".join(sorted(map(ast.unparse, found)))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\nuse(x)\n", "1"),
        ("x = 1\nx = 2\nuse(x)\n", "2"),
        ("x = 1\nx = use(x)\n", "1"),
        ("x = 1\nx = [use(x)]\nx = 3\n", "1"),
        ("x = 1\nfor _ in y:\n    x = use(x)\n", "1 or use(x)"),
        ("x = 1\nif y:\n    x = 2\nuse(x)\n", "1 or 2"),
        ("x, y = 1, 2\nx, y = 3, 4\nuse(x)\n", "3"),
        ("x, y = 1, 2\nx, y = y, use(x)\n", "1"),
        ("x, y = 1, 2\nx, y = f()\nuse(x)\n", "unknown"),
        ("x = 1\nfor x, y in z:\n    use(x)\n", "unknown"),
        ("x = use(x)\n", "use(x)"),
        ("def f(x):\n    use(x)\n", "parameter x"),
        ("def f(x):\n    x = use(x)\n", "unknown"),
        ("x = 1\ndef f():\n    use(x)\n", "1"),
    ],
)
def test_what_a_name_can_be(source: str, expected: str) -> None:
    assert values(source) == expected
