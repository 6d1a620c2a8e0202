"""Which Python a file needs, by its syntax and by the annotations that an import evaluates."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from precision_lint.facts.project.python_needed import python_needed

_PATH = Path("module.py")


@pytest.mark.parametrize(
    ("code", "release"),
    [
        ("if (n := f()):\n    pass\n", "3.8"),
        ("def f(a, /, b):\n    pass\n", "3.8"),
        ("def f(a: list[int]):\n    pass\n", "3.9"),
        ("class A:\n    sizes: dict[str, int] = {}\n", "3.9"),
        ("def f(a: int | None, b: list[int]):\n    pass\n", "3.10"),
        ("class A:\n    def f(self) -> None | str:\n        pass\n", "3.10"),
        ("match f():\n    case 1:\n        pass\n", "3.10"),
    ],
)
def test_what_needs_a_release(code: str, release: str) -> None:
    assert python_needed(_PATH, code.encode()) == release


@pytest.mark.parametrize(
    "code",
    [
        "from __future__ import annotations\n\ndef f(a: int | None, b: list[int]):\n    pass\n",
        "def f():\n    n: int | None = 0\n    sizes: list[int] = []\n",
        "def f(a: 'int | None', b: Optional[int] = None):\n    pass\n",
        "def f(a=x | None):\n    return list[0], a | b\n",
        "match = 1\nprint(match, type (match))\n",
        "def f(a: A | B):\n    pass\n",
        "def f(:\n",
    ],
)
def test_what_needs_none(code: str) -> None:
    assert python_needed(_PATH, code.encode()) == ""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is new in Python 3.12")
def test_type_parameters() -> None:
    assert python_needed(_PATH, b"def f[T](a: T) -> T:\n    return a\n") == "3.12"
