"""Statements that certainly raise before a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.raising import raising_before
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording

ACTOR = """\
from torch import nn
class Actor(nn.Module):
    def __init__(self, model, t=1.0):
        self.t = t
"""
RAISING = [
    ("a name that a module does not have", "import actors\nactors.missing()\nhere\n"),
    ("the same, by another name", "import actors as a\nx = a.missing\nhere\n"),
    ("a name in a statement", "missing.f()\nhere\n"),
    ("a name in a test", "if missing:\n    pass\nhere\n"),
    ("a name in the first part of a condition", "if missing and True:\n    pass\nhere\n"),
    ("a name in a loop", "for x in missing:\n    pass\nhere\n"),
    ("in the body of a class", "class A:\n    n = missing\nhere\n"),
    ("before a function", "missing.f()\ndef f():\n    here\n"),
    ("in the function", "def f(x):\n    x = missing\n    with x:\n        here\n"),
    ("in the same branch", "def f(x):\n    if x:\n        missing()\n        here\n"),
    ("in a function that is called", "def f(x):\n    missing()\n    return x\nf(1)\nhere\n"),
    ("in what that calls", "def f():\n    missing()\ndef g():\n    f()\ng()\nhere\n"),
    ("a keyword", f"{ACTOR}def main(m):\n    Actor(m, bf16=True)\n    here\n"),
    ("a missing argument", f"{ACTOR}Actor(t=2.0)\nhere\n"),
    ("too many arguments", "def f(x):\n    return x\nf(1, 2)\nhere\n"),
    ("of a class in another file", "from actors import Critic\nCritic(1, bf16=True)\nhere\n"),
    ("of the initialiser of a base", "from actors import Other\nOther(1, bf16=True)\nhere\n"),
]
PASSING = [
    ("a name of a module", "import actors\nactors.Critic\nhere\n"),
    ("a name that is assigned elsewhere", "import actors\nactors.late\nhere\n"),
    ("a name of a library", "import evaluate\nevaluate.load('f1')\nhere\n"),
    ("a name of an object", "from actors import Critic\nCritic.missing\nhere\n"),
    ("a name that comes later", "here\nmissing()\n"),
    ("in another branch", "def f(x):\n    if x:\n        missing()\n    else:\n        here\n"),
    ("under a condition", "import os\nif os.name:\n    missing()\nhere\n"),
    ("in the second part of a condition", "import os\nif os.name and missing:\n    pass\nhere\n"),
    ("in a choice", "import os\nx = missing if os.name else 1\nhere\n"),
    ("in a function", "def f():\n    missing()\ndef g():\n    here\n"),
    ("after a return", "def f(x):\n    if x:\n        return\n    missing()\nf(1)\nhere\n"),
    ("in a generator", "def f():\n    missing()\n    yield 1\nf()\nhere\n"),
    ("in what calls itself", "def f():\n    f()\nf()\nhere\n"),
    ("in a method", "class A:\n    def f(self):\n        missing()\nhere\n"),
    (
        "in an annotation",
        "import actors\ndef f(x: actors.missing) -> actors.missing:\n    return x\nhere\n",
    ),
    ("in a lambda", "f = lambda: missing()\nhere\n"),
    ("in what is repeated", "x = [missing for _ in range(0)]\nhere\n"),
    ("tried", "try:\n    missing()\nexcept NameError:\n    pass\nhere\n"),
    ("with all arguments", f"{ACTOR}Actor(1, t=2.0)\nhere\n"),
    (
        "with arguments that are unpacked",
        f"{ACTOR}Actor(**{{'model': 1}}, bf16=True)\nhere\n".replace(", bf16=True", ""),
    ),
    (
        "of a class that is made otherwise",
        f"{ACTOR.replace('nn.Module', 'nn.Other')}Actor(1, bf16=True)\nhere\n",
    ),
    ("decorated", "from lib import patched\n@patched\ndef f(x):\n    return x\nf(1, 2)\nhere\n"),
    ("bound twice", "def f(x):\n    return x\nf = print\nf(1, 2)\nhere\n"),
    ("of a parameter", "def f(x):\n    return x\ndef g(f):\n    f(1, 2)\n    here\n"),
    ("of a library", "from lib import Actor\nActor(1, bf16=True)\nhere\n"),
]


@pytest.mark.parametrize(
    ("source", "expected"),
    [*((each[1], True) for each in RAISING), *((each[1], False) for each in PASSING)],
    ids=[each[0] for each in (*RAISING, *PASSING)],
)
def test_raising(source: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "actors.py").write_text(
        ACTOR.replace("Actor", "Critic") + "class Other(Critic):\n    pass\n"
    )
    (tmp_path / "evaluate.py").write_text("def main():\n    pass\n")
    (tmp_path / "b.py").write_text("import actors\nactors.late = 1\n")
    path = tmp_path / "a.py"
    source = source.replace("here", "'here'")
    path.write_text(source)
    project = recording(tmp_path, ())
    file = python_file(SourceText.from_bytes(path, path.read_bytes()), project)
    assert (raising_before(source.index("'here'"), file, project) is not None) is expected
