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
    call = _written("f", arguments)
    is_taken = _is_taken(f"def f({parameters}): pass", call)
    assert fits(_call(call), _arguments(parameters)) is is_taken


@given(PARAMETERS.filter(lambda each: each.startswith("a")), ARGUMENTS)
def test_bound(parameters: str, arguments: tuple[int, list[str]]) -> None:
    call = _written("C().f", arguments)
    is_taken = _is_taken(f"class C:\n    def f({parameters}): pass", call)
    assert fits(_call(call), _arguments(parameters), bound=1) is is_taken


def _written(callee: str, arguments: tuple[int, list[str]]) -> str:
    positional, keywords = arguments
    return f"{callee}({', '.join([*['0'] * positional, *(f'{each}=0' for each in keywords)])})"


def _is_taken(definition: str, call: str) -> bool:
    """Whether Python itself takes the arguments."""
    names: dict[str, object] = {}
    exec(definition, names)
    try:
        eval(call, names)
    except TypeError:
        return False
    return True


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
