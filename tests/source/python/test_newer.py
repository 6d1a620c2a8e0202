"""Code for a newer Python than the one that runs the linter is read, with all in its place."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from precision_lint.source.python.newer import in_older_syntax
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText
from tests.cli.running import project, run

NEWER = {
    "class": ("class A[T](B):\n    x = mark\n", "class A   (B):\n    x = mark\n"),
    "function": ("def f[T: (int, str)](x: T): mark\n", "def f               (x: T): mark\n"),
    "rows": ("def f[\n    T, # é\n](x): mark\n", None),
    "alias": ("if a:\n    type X[T] = int; mark\n", "if a:\n    0   ;X    = int; mark\n"),
    "exceptions": ("try: a\nexcept A, B: mark\n", "try: a\nexcept A   : mark\n"),
    "quotes": (
        'x = f"{a["b"]}", mark\n',
        "x = f\"{a['b']}\", mark\n" if sys.version_info < (3, 12) else None,
    ),
    "quotes in quotes": ('x = f"{[float(f"{a:.2f}") for a in b]}", mark\n', None),
    "row in quotes": ('x = f"{g(a,\n  b)}.c", mark\n', None),
    "backslash in quotes": ("x = f'{g(\"\\n\")}', mark\n", None),
    "template": ("x = t'{a}', mark\n", "x = f'{a}', mark\n"),
}


@pytest.mark.parametrize("name", NEWER)
def test_newer_syntax_is_covered_in_place(name: str) -> None:
    code, expected = NEWER[name]
    older = in_older_syntax(code)
    assert older is not None
    assert expected in (None, older)
    assert len(older.encode()) == len(code.encode())
    assert list(map(len, older.encode().split(b"\n"))) == list(map(len, code.encode().split(b"\n")))
    [mark] = [
        node
        for node in ast.walk(ast.parse(older))
        if isinstance(node, ast.Name) and node.id == "mark"
    ]
    row = code.splitlines()[mark.lineno - 1].encode()
    assert row[mark.col_offset :].startswith(b"mark")


@pytest.mark.parametrize("name", NEWER)
def test_code_is_parsed_whatever_release_brought_its_syntax(name: str) -> None:
    parse_python(SourceText(Path("a.py"), NEWER[name][0]))


@pytest.mark.parametrize(
    "code", ["class A[:\n    pass\n", "x = f'{a\n", "print 1\n", "type X[T = 1\n"]
)
def test_what_no_release_can_parse_is_reported(code: str) -> None:
    with pytest.raises(Unparsable, match="read with Python"):
        parse_python(SourceText(Path("a.py"), code))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the interpreter knows the syntax")
def test_an_expression_that_older_strings_cannot_hold_is_reported() -> None:
    with pytest.raises(Unparsable):
        parse_python(SourceText(Path("a.py"), "x = f'{a[\n\n0]}'\n"))


def test_a_file_for_a_newer_python_is_checked_and_fixed(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef host[T](x: T) -> T:\n"
        "    ones = torch.ones(2, dtype=torch.bfloat16)\n    return ones.numpy(){}\n"
    )
    bad = code.format("").replace(".numpy()", "{}.numpy()")
    project(tmp_path, {"a.py": bad.format("")})
    found = run("--output-format", "concise", cwd=tmp_path)
    assert "a.py:6:12: MP101 [*]" in found.out
    assert run("--fix", cwd=tmp_path).code == 0
    assert (tmp_path / "a.py").read_text() == bad.format(".float()")
