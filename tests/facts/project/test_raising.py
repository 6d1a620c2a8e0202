"""Statements that certainly raise before a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.context import PythonFile
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.never_run import why_never_run
from precision_lint.facts.project.raising import raising_before
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording

ACTOR = """\
from torch import nn
class Actor(nn.Module):
    def __init__(self, model, t=1.0):
        self.t = t
"""
OWNER = """\
class A:
    def __init__(self):
        self.x = 1
    def f(self, x):
"""
TUPLE = """\
class A:
    def __init__(self):
        (
            self.alpha,
            self.beta,
        ) = 1, 2
    def f(self):
        self.alpha
        here
"""
MIXIN = """\
from lib import Base
class Mixin:
    def f(self):
        self.g()
        here
"""
BELOW = """\
import os
class B:
    def __init__(self):
        pass
    def run(self):
        pass
def other(self, x):
    return x
class A(B):
"""
QUIET = """\
import os
class Quiet:
    def __enter__(self):
        return self
    def __exit__(self, *raised):
        return True
def f():
    with Quiet():
        missing()
f()
here
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
    ("too much for an async function", "async def f(x):\n    return x\nf(1, 2)\nhere\n"),
    ("in an annotation", "def f(x: missing):\n    return x\nhere\n"),
    ("in a list of many", "import os\nx = [missing for n in os.listdir('.')]\nhere\n"),
    (
        "in a loop of what is called",
        "def f(xs):\n    for x in xs:\n        missing(x)\nf([1])\nhere\n",
    ),
    ("after a condition", "def f(x):\n    if x:\n        print(x)\n    missing()\nf(1)\nhere\n"),
    ("in a context", "def f(x):\n    with open(x) as g:\n        missing(g)\nf(1)\nhere\n"),
    (
        "in what is started",
        "from lib import mp\ndef f(n):\n    missing(n)\nmp.spawn(f, args=(1,))\nhere\n",
    ),
    ("in an initialiser", "class A:\n    def __init__(self):\n        missing()\nA()\nhere\n"),
    ("in a method of an object", f"{OWNER}        missing()\na = A()\na.f(1)\nhere\n"),
    ("too much for a method of an object", f"{OWNER}        return x\na = A()\na.f(1, 2)\nhere\n"),
    ("too much for one's own method", f"{OWNER}        self.f(1, 2)\n        here\n"),
    ("too much for a method of a class", f"{OWNER}        return x\nA.f(1, 2, 3)\nhere\n"),
    (
        "in what a method of a class makes",
        "class A:\n    def __init__(self):\n        missing()\n"
        "    @classmethod\n    def make(cls):\n        return cls()\nA.make()\nhere\n",
    ),
    ("an attribute that nothing has", f"{OWNER}        self.g()\n        here\n"),
    (
        "of a class of a library",
        "from torch.utils.data import IterableDataset\nclass A(IterableDataset):\n"
        "    def __init__(self, paths):\n        self.paths = paths\nA(names=1)\nhere\n",
    ),
    (
        "of a class below one without an initialiser",
        "class B:\n    pass\nclass A(B):\n    def __init__(self, x):\n        self.x = x\n"
        "A()\nhere\n",
    ),
    ("in a context of the project", QUIET.replace("return True", "return False")),
    (
        "in what torch decorates",
        "import torch\n@torch.no_grad()\ndef f(x):\n    return x\nf(1, 2)\nhere\n",
    ),
    (
        "an attribute of another class that only reads it",
        f"{OWNER}        self.g()\n        here\nclass B:\n    def f(self):\n        self.g()\n",
    ),
    (
        "an attribute of a class with one below",
        f"{OWNER}        self.g()\n        here\nclass B(A):\n    pass\n",
    ),
    ("of the initialiser of a base", "from actors import Other\nOther(1, bf16=True)\nhere\n"),
]
PASSING = [
    ("in an async function that nobody awaits", "async def f():\n    missing()\nf()\nhere\n"),
    (
        "after a loop, which may be what a program is for",
        "def f(xs):\n    for x in xs:\n        if x:\n            break\n    missing()\n"
        "f([1])\nhere\n",
    ),
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
    (
        "an attribute that something sets",
        f"{OWNER}        self.g()\n        here\ndef set_up(a):\n    a.g = print\n",
    ),
    (
        "an attribute that a context binds",
        f"{OWNER}        with open(x) as self.g:\n            self.g.read()\n            here\n",
    ),
    (
        "an attribute of a class below",
        f"{OWNER}        self.g()\n        here\nclass B(A):\n    def g(self):\n        pass\n",
    ),
    (
        "an attribute that a library may have",
        f"from lib import Base\n{OWNER.replace('A:', 'A(Base):')}        self.g()\n        here\n",
    ),
    (
        "an attribute of a class that is mixed in",
        f"from lib import Base\n{OWNER}        self.g()\n        here\n"
        "class B(A, Base):\n    pass\n",
    ),
    (
        "an attribute by its name",
        f"{OWNER}        setattr(self, x, 1)\n        self.g()\n        here\n",
    ),
    (
        "a method that another class has, too",
        f"{OWNER}        self.f(1, 2)\n        here\n"
        "class B(A):\n    def f(self, x, y):\n        pass\n",
    ),
    (
        "a method that is replaced",
        f"import torch\n{OWNER}        return x\na = A()\na.f = print\na.f(1, 2)\nhere\n",
    ),
    (
        "a method that the initialiser of a base replaces",
        "class B:\n    def __init__(self):\n        self.f = print\n"
        f"{OWNER.replace('A:', 'A(B):')}        return x\na = A()\na.f(1, 2)\nhere\n",
    ),
    (
        "an attribute that `object` gives by its name",
        f"{OWNER}        object.__setattr__(self, x, 1)\n        self.g()\n        here\n",
    ),
    (
        "an object that may be another",
        f"import os\n{OWNER}        return x\na = A()\na = os\na.f(1, 2)\nhere\n",
    ),
    (
        "of a function that starts nothing",
        "from lib import keep\ndef f(n):\n    missing(n)\nkeep(f)\nhere\n",
    ),
    (
        "in what is tried",
        "def f():\n    try:\n        missing()\n    except Exception:\n        pass\nf()\nhere\n",
    ),
    (
        "in what is suppressed",
        "from contextlib import suppress\ndef f():\n    with suppress(NameError):\n"
        "        missing()\nf()\nhere\n",
    ),
    ("in a context of a class that swallows", QUIET),
    ("in one that a name holds", QUIET.replace("    with Quiet()", "    q = Quiet()\n    with q")),
    (
        "in one of a class with a base that swallows",
        QUIET.replace("def f", "class Below(Quiet):\n    pass\ndef f").replace(
            "with Quiet", "with Below"
        ),
    ),
    (
        "in a context of a function that swallows",
        "from lib import contextmanager\n@contextmanager\ndef quiet():\n    try:\n        yield\n"
        "    except Exception:\n        pass\ndef f():\n    with quiet():\n        missing()\n"
        "f()\nhere\n",
    ),
    (
        "after `continue`",
        "def f(xs):\n    for x in xs:\n        if x:\n            continue\n        missing(x)\n"
        "f([1])\nhere\n",
    ),
    (
        "after `break`",
        "def f(xs):\n    while True:\n        if xs:\n            break\n        missing(xs)\n"
        "f([1])\nhere\n",
    ),
    (
        "after an exit",
        "import sys\ndef f(x):\n    if x:\n        sys.exit(0)\n    missing()\nf(1)\nhere\n",
    ),
    (
        "after `SystemExit`",
        "def f(x):\n    if x:\n        raise SystemExit(0)\n    missing()\nf(1)\nhere\n",
    ),
    (
        "before a `finally` that returns",
        "def f():\n    try:\n        missing()\n    finally:\n        return\nf()\nhere\n",
    ),
    ("an attribute of a tuple in rows", TUPLE),
    (
        "an attribute with a type",
        "class A:\n    def __init__(self):\n        self.kv: int | None = None\n"
        "    def f(self):\n        self.kv\n        here\n",
    ),
    (
        "an attribute of a loop",
        "class A:\n    def __init__(self):\n        for self.step in 'ab':\n            pass\n"
        "    def f(self):\n        self.step\n        here\n",
    ),
    (
        "an attribute that an option gives",
        f"from lib import parser\n{OWNER}        parser.add_argument('--batch-size')\n"
        "        parser.parse_args(namespace=self)\n        self.batch_size\n        here\n",
    ),
    (
        "an attribute that the body of a class gives by its name",
        "class A:\n    for name in 'xyz':\n        vars()[name * 3] = 1\n"
        "    def f(self):\n        self.zzz\n        here\n",
    ),
    ("an attribute that a file names", f"{OWNER}        self.from_yaml\n        here\n"),
    (
        "an attribute in a method that another class takes",
        f"from lib import Layer\n{OWNER}        self.g()\n        here\nLayer.forward = A.f\n",
    ),
    (
        "an attribute of a class that an object gets",
        f"from lib import model\n{OWNER}        self.g()\n        here\nmodel.__class__ = A\n",
    ),
    ("an attribute of all classes", f"{OWNER}        self.mro()\n        here\n"),
    (
        "an attribute of what `self` becomes",
        f"import os\n{OWNER}        self = os\n        self.g()\n        here\n",
    ),
    (
        "an attribute of another `self`",
        f"{OWNER}        y = [self.g() for self in x]\n        here\n",
    ),
    (
        "an attribute of a class that is mixed into one below",
        f"{MIXIN}class Sub(Mixin):\n    pass\nclass B(Sub, Base):\n    pass\n",
    ),
    ("the same, with another name", f"{MIXIN}M = Mixin\nclass B(M, Base):\n    pass\n"),
    ("the same, after a call", f"{MIXIN}class B(Base.of(1), Mixin):\n    pass\n"),
    ("the same, by `type`", f"{MIXIN}B = type('B', (Mixin, Base), {{}})\n"),
    (
        "a name that another file gives to the module",
        "def run():\n    if put:\n        pass\n    here\n",
    ),
    ("a builtin that another file adds", "if added:\n    pass\nhere\n"),
    ("of a function that another file replaces", "import actors\nactors.replaced(1, 2)\nhere\n"),
    (
        "of an initialiser that is replaced",
        "import torch\nclass A:\n    def __init__(self, x):\n        pass\n"
        "A.__init__ = print\nA(1, 2)\nhere\n",
    ),
    ("of an initialiser in a body", f"{BELOW}    __init__ = other\nA(1)\nhere\n"),
    (
        "of an initialiser under a condition",
        f"{BELOW}    if os.name:\n        def __init__(self, x):\n            pass\nA(1)\nhere\n",
    ),
    ("of a method in a body", f"{BELOW}    run = other\na = A()\na.run(1)\nhere\n"),
    (
        "of a method under a condition",
        f"{BELOW}    if os.name:\n        def run(self, x):\n            pass\n"
        "a = A()\na.run(1)\nhere\n",
    ),
    (
        "of an object that `__new__` makes",
        f"{OWNER}        pass\n    def __new__(cls, kind):\n        return kind\n"
        "a = A(open)\na.f(1, 2)\nhere\n",
    ),
    (
        "of an object of a metaclass",
        f"from lib import Meta\n{OWNER.replace('A:', 'A(metaclass=Meta):')}        pass\n"
        "a = A()\na.f(1, 2)\nhere\n",
    ),
    (
        "of a method of a class that is decorated",
        f"from lib import other\n@other\n{OWNER}        pass\na = A()\na.f(1, 2)\nhere\n",
    ),
    (
        "of a class below one that is called like one of torch",
        "from lib import Meta\nclass Module(metaclass=Meta):\n    pass\nclass A(Module):\n"
        "    def __init__(self):\n        pass\nA(1)\nhere\n",
    ),
    (
        "of a function with a decorator that is called like one of torch",
        "from lib import compile\n@compile\ndef f(x):\n    return x\nf(1, 2)\nhere\n",
    ),
    (
        "in another process",
        "from lib import mp\ndef f():\n    missing()\nmp.Process(target=f)\nhere\n",
    ),
    (
        "in what is handed to what is started",
        "from lib import mp\ndef f(n, g):\n    pass\ndef g():\n    missing()\n"
        "mp.spawn(f, args=(g,))\nhere\n",
    ),
    ("in a method", "class A:\n    def f(self):\n        missing()\nhere\n"),
    (
        "in an annotation",
        "import actors\ndef f(x: actors.missing) -> actors.missing:\n    return x\nhere\n",
    ),
    ("in a lambda", "f = lambda: missing()\nhere\n"),
    ("in what is repeated", "import os\nx = [missing for n in os.listdir('.') if n]\nhere\n"),
    ("tried", "try:\n    missing()\nexcept NameError:\n    pass\nhere\n"),
    ("with all arguments", f"{ACTOR}Actor(1, t=2.0)\nhere\n"),
    (
        "with arguments that are unpacked",
        f"{ACTOR}Actor(**{{'model': 1}}, bf16=True)\nhere\n".replace(", bf16=True", ""),
    ),
    (
        "of a class that is made otherwise",
        f"from lib import Other\n{ACTOR.replace('nn.Module', 'Other')}Actor(1, bf16=True)\nhere\n",
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
    project, file = _project(source, tmp_path)
    at = file.text.text.index("'here'")
    assert (raising_before(at, file, project) is not None) is expected


def _project(source: str, tmp_path: Path) -> tuple[Recording, PythonFile]:
    (tmp_path / "actors.py").write_text(
        ACTOR.replace("Actor", "Critic") + "class Other(Critic):\n    pass\n"
        "def replaced(x):\n    return x\n"
    )
    (tmp_path / "evaluate.py").write_text("def main():\n    pass\n")
    (tmp_path / "b.py").write_text(
        "import a, actors, builtins, torch\nactors.late = 1\n"
        "a.put = 1\nbuiltins.added = 1\nactors.replaced = print\n"
    )
    (tmp_path / "c.yaml").write_text("from_yaml: 1\n")
    path = tmp_path / "a.py"
    path.write_text(source.replace("here", "'here'"))
    project = recording(tmp_path, ())
    return project, python_file(SourceText.from_bytes(path, path.read_bytes()), project)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("missing()\nhere\n", "nothing binds `missing`"),
        ("import actors\nactors.missing()\nhere\n", "the module has no `missing`"),
        (f"{OWNER}        self.g()\n        here\n", "the object has no `g`"),
        ("def f(x):\n    return x\nf()\nhere\n", "this call raises"),
    ],
)
def test_what_keeps_runs_away(source: str, why: str, tmp_path: Path) -> None:
    project, file = _project(source, tmp_path)
    found = why_never_run(file.text.text.index("'here'"), file, project)
    assert found is not None
    assert found.message == f"no run comes here: {why}"
