"""Whether arguments fit parameters, as Python itself decides it."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from precision_lint.source.python.arguments import fits

PARAMETERS = st.sampled_from(
    [
        *("", "a", "a, b", "a, b=1", "a=1, b=2", "*args", "a, *args", "**options"),
        *("a, **options", "a, *, b", "a, *, b=1", "*, a", "a, /", "a, /, b", "a, /, **options"),
        *("a, b=1, /, c=2, *, d", "*args, a, **options"),
    ]
)
ARGUMENTS = st.tuples(
    st.integers(0, 3), st.lists(st.sampled_from("abcdx"), max_size=3, unique=True)
)


@given(PARAMETERS, ARGUMENTS)
@settings(max_examples=800, deadline=None)
def test_fits(parameters: str, arguments: tuple[int, list[str]]) -> None:
    positional, keywords = arguments
    source = f"f({', '.join([*['0'] * positional, *(f'{each}=0' for each in keywords)])})"
    names: dict[str, object] = {}
    exec(f"def f({parameters}): pass", names)
    try:
        eval(source, names)
        is_taken = True
    except TypeError:
        is_taken = False
    assert fits(_call(source), _arguments(parameters)) is is_taken


@given(PARAMETERS.filter(lambda each: each.startswith("a")), ARGUMENTS)
def test_bound(parameters: str, arguments: tuple[int, list[str]]) -> None:
    positional, keywords = arguments
    source = f"C().f({', '.join([*['0'] * positional, *(f'{each}=0' for each in keywords)])})"
    names: dict[str, object] = {}
    exec(f"class C:\n    def f({parameters}): pass", names)
    try:
        eval(source, names)
        is_taken = True
    except TypeError:
        is_taken = False
    assert fits(_call(source), _arguments(parameters), bound=1) is is_taken


def test_stars_may_give_anything() -> None:
    for source in ("f(*given)", "f(**given)", "f(0, *given)"):
        assert fits(_call(source), _arguments("a, b, c"))
    assert not fits(_call("f(*given, x=0)"), _arguments("a, b, c"))
    assert not fits(_call("f(0, 0, **given)"), _arguments("a"))


def _call(source: str) -> ast.Call:
    node = ast.parse(source, mode="eval").body
    assert isinstance(node, ast.Call)
    return node


def _arguments(parameters: str) -> ast.arguments:
    [function] = ast.parse(f"def f({parameters}): pass").body
    assert isinstance(function, ast.FunctionDef)
    return function.args
