"""Whether a file may give what has a name to a call, by its text: never less than its tree says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.facts.project.imports import may_hand

IMPORTS = (
    "from m import f, g\n",
    "from m import (\n    f,  # the one (of two)\n    g,\n)\n",
    "import m, f, g\n",
    "if True:\n    from .m import (f, g)\n",
)


def is_handed(code: str) -> bool:
    return bool(may_hand(Path("a.py"), code.encode(), "f"))


@pytest.mark.parametrize("code", IMPORTS)
@pytest.mark.parametrize("use", ["f(1)\n", "f (1)\nx = [f]\n", "# nothing\n"])
def test_an_import_is_no_call(code: str, use: str) -> None:
    assert not is_handed(code + use)


GIVEN = (
    "run(f)\n",
    "run(1, f, 2)\n",
    "run(callback=f)\n",
    "run(m.f)\n",
    "run(\n    f  # the one\n    ,\n)\n",
    "run(f \\\n)\n",
    "run((f))\n",
    "run(a, key=m.n . f)\n",
)


@pytest.mark.parametrize("code", IMPORTS)
@pytest.mark.parametrize("use", GIVEN)
def test_what_a_call_is_given_is_seen(code: str, use: str) -> None:
    call = next(node for node in ast.walk(ast.parse(use)) if isinstance(node, ast.Call))
    values = (*call.args, *(each.value for each in call.keywords))
    assert any(getattr(each, "id", getattr(each, "attr", "")) == "f" for each in values)
    assert is_handed(code + use)
