"""The changes of one function, worked out alone, are those that the whole body's effects give."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.syntax.definitions import Function, Module, module_of
from precision_lint.source.python.parse import parse_python
from precision_lint.source.python.statements import FunctionDefinition, own_statements
from precision_lint.source.text.text import SourceText

CASES = {
    "itself": "xs = []\ndef f(x):\n    xs.append(x)\n",
    "by another": "xs = []\ndef f(x):\n    xs.append(x)\ndef g(x):\n    f(x)\n",
    "by one after another": (
        "xs = []\ndef f(x):\n    h(x)\ndef g(x):\n    f(x)\ndef h(x):\n    xs.append(x)\n"
    ),
    "in a circle": (
        "xs, ys = [], []\ndef f(x):\n    xs.append(x)\n    g(x)\n"
        "def g(x):\n    ys.append(x)\n    f(x)\n"
    ),
    "a name of its own": "xs = []\ndef f(x):\n    xs.append(x)\ndef g(f, x):\n    f(x)\n",
    "a method": (
        "xs = []\nclass A:\n    def f(self):\n        xs.append(1)\n    def g(self):\n        f()\n"
    ),
    "the last of two": (
        "xs, ys = [], []\nif xs:\n    def f():\n        xs.append(1)\nelse:\n    def f():\n"
        "        ys.append(1)\ndef g():\n    f()\n"
    ),
    "inside of a function": (
        "def f():\n    xs = []\n    def g(x):\n        xs.append(x)\n    def h(x):\n        g(x)\n"
    ),
    "in a default": "xs = []\ndef f(x):\n    xs.append(x)\ndef g(x=f(1), y=(z := 2)):\n    pass\n",
    "only a string names it": "xs = []\ndef f(x):\n    xs.append(x)\ndef g(x):\n    return 'f'\n",
}


def functions_of(module: Module) -> list[Function]:
    found: list[Function] = []
    for each in module.top.values():
        found += [each] if isinstance(each, Function) else each.functions
    return found + [
        module.function(node, f"{each.name}.{node.name}", None, each)
        for each in found
        if isinstance(each.node, FunctionDefinition)
        for node in own_statements(each.node.body)
        if isinstance(node, FunctionDefinition)
    ]


@pytest.mark.parametrize("source", CASES.values(), ids=CASES)
def test_what_a_function_changes(source: str) -> None:
    module = module_of(parse_python(SourceText(Path("a.py"), source)))
    functions = functions_of(module)
    for function in functions:
        around = function.enclosing
        effects = module.effects if around is None else around.def_uses
        (effect,) = (each for each in effects if each.node is function.node)
        assert function.changes == effect.writes - {function.name.rpartition(".")[2]}
    assert any(function.changes for function in functions)
