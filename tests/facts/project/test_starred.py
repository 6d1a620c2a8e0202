"""The names that `import *` gives, by the text of a module: never fewer than Python says."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.starred import names_at_top

DEFINITIONS = """\
def a(x):
    y = 1
    return y


class B:
    z = 1


async def c():
    pass
"""
BLOCKS = """\
import sys
if sys:
    a = 1

    b: int = 2
else:
    c, d = 1, 2
for e, f in [(1, 2)]:
    g = e
with open(__file__) as h: i = 1
"""
ATTEMPTS = """\
try:
    import json as a
except ImportError as b:
    c = None
finally:
    def d():
        pass
    class E:
        x = 1
"""
IMPORTS = """\
from os import (  # see (there)
    path,
    sep as other,
)
import json, re as pattern
"""
MODULES = {
    "definitions": DEFINITIONS,
    "assignments": "a = 1\nb, c = 1, 2\n(d, e) = 1, 2\nf: int = 3\ng = h = 4\ni = dict(j=1)\n",
    "blocks": BLOCKS,
    "attempts": ATTEMPTS,
    "imports": IMPORTS,
    "public": "__all__ = ['a']\na = b = 1\n",
    "computed": "__all__ = ['a']\n__all__ += ['_b']\na = _b = 1\n",
    "hidden": "_a = 1\nb = _a\n",
}


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_gives_is_in_its_record(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text(MODULES[name])
    scope: dict[str, object] = {"__file__": str(path), "__name__": name}
    exec(MODULES[name], scope)
    public = scope.get("__all__", [each for each in scope if not each.startswith("_")])
    assert isinstance(public, list)
    known = names_at_top(path, MODULES[name].encode()).split("\n")
    assert {*public} <= {*known}


def test_what_it_does_not_give_is_not() -> None:
    def known(text: str) -> set[str]:
        return {*names_at_top(Path("m.py"), text.encode()).split("\n")} - {""}

    assert known(MODULES["definitions"]) == {"a", "B", "c"}
    assert known(MODULES["public"]) == {"a"}
    assert "_a" not in known(MODULES["hidden"])
    assert "__name__" not in known("import sys\nsys.modules[__name__] = 1\n")
    assert {"*.a", "*b.c"} <= known("from .a import *\nif x:\n    from b.c import (*)\n")
