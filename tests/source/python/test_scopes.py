"""What names mean where they stand."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from precision_lint.source.python.scopes import scopes_of


def meanings(source: str) -> list[str | None]:
    """What each reading of `use` or an attribute of it means, in source order."""
    scopes = scopes_of(ast.parse(dedent(source)))
    return [one.qualified for one in scopes.references if one.names[0] == "use"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a.b as use\nuse.c", ["a.b.c"]),
        ("import use.b\nuse.b.c", ["use.b.c"]),
        ("from a import b as use\nuse()", ["a.b"]),
        ("from . import use\nuse", [".use"]),
        ("from ..a import use\nuse", ["..a.use"]),
        ("use", [None]),
        ("import use\nuse = use", [None]),
        ("try:\n    from a import use\nexcept ImportError:\n    from b import use\nuse", [None]),
        ("from a import use\nfrom a import use\nuse", ["a.use"]),
    ],
)
def test_imports(source: str, expected: list[str | None]) -> None:
    assert meanings(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(use):\n    use", [None]),
        ("def f(x=use):\n    use", ["a.use", "a.use"]),
        ("def f(x: use) -> use: ...", ["a.use", "a.use"]),
        ("lambda use: use", [None]),
        ("[use for use in ()]", [None]),
        ("[x for x in use]", ["a.use"]),
        ("def f():\n    use\n    for use in (): pass", [None]),
        ("def f():\n    with x as use: use\nuse", [None, "a.use"]),
        ("def f():\n    global use\n    use = 1\nuse", [None]),
        ("def f():\n    use = 1\n    def g():\n        use", [None]),
        ("class A:\n    use = 1\n    use\n    def f(self): use", [None, "a.use"]),
        ("def f():\n    [use := 1 for x in ()]\n    use", [None]),
        ("match x:\n    case [use]: use", [None]),
        ("try: pass\nexcept E as use: use", [None]),
        ("def f():\n    import b as use\n    use", ["b"]),
        ("@use\ndef f(): ...", ["a.use"]),
        ("def use(): ...\nuse", [None]),
    ],
)
def test_scopes(source: str, expected: list[str | None]) -> None:
    assert meanings(f"from a import use\n{source}") == expected


def test_the_place_of_a_reference() -> None:
    scopes = scopes_of(ast.parse("if a:\n    with use(): ..."))
    (reference,) = [one for one in scopes.references if one.names == ("use",)]
    steps = [(type(step.node).__name__, step.field) for step in reference.at.upwards]
    assert steps == [
        ("Call", "func"), ("withitem", "context_expr"), ("With", "items"),
        ("If", "body"), ("Module", "body"),
    ]  # fmt: skip


def test_deep_nesting() -> None:
    source = "x = " + " + ".join(["use"] * 500)
    assert meanings(f"from a import use\n{source}") == ["a.use"] * 500
