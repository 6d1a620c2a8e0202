"""Names that a file reads and nothing binds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from precision_lint.source.python.undefined import undefined_names
from precision_lint.source.text.text import SourceText
from tests.context import python_file

UNDEFINED = [
    ("in an attribute", "import os\nsys.path.append(os.getcwd())\n", {"sys"}),
    ("in a function", "def f(x):\n    return swizzle(x)\nf(1)\n", {"swizzle"}),
    ("in a default", "def f(x=missing):\n    return x\n", {"missing"}),
    ("next to `exec` in a function", "def f(x):\n    exec(x)\nmissing()\n", {"missing"}),
    ("next to `vars` of an object", "import models\nvars(models)\nmissing()\n", {"missing"}),
    ("in a decorator", "@missing\ndef f(x):\n    return x\n", {"missing"}),
    (
        "a name of a class in its method",
        "class A:\n    n = 1\n    def f(self):\n        return n\nA().f()\n",
        {"n"},
    ),
    (
        "a name of a class in a comprehension of its body",
        "class A:\n    names = 'ab'\n    pairs = [n for n in 'ab' if n in names]\n",
        {"names"},
    ),
    (
        "what the second part of a comprehension repeats",
        "class A:\n    names = 'ab'\n    pairs = [n for m in 'ab' for n in names]\n",
        {"names"},
    ),
    ("a name of another function", "def f():\n    n = 1\ndef g():\n    return n\ng()\n", {"n"}),
    ("a method `eval` of an object", "import models\nmodels.net.eval()\nmissing()\n", {"missing"}),
]
DEFINED = [
    ("imported", "import os\nos.getcwd()\n"),
    ("a builtin", "print(len([]), __file__, __name__)\n"),
    ("bound later", "def f():\n    return n\nn = 1\n"),
    ("global", "def f():\n    global n\n    n = 1\ndef g():\n    return n\n"),
    ("by a walrus", "if (n := 1):\n    print(n)\n"),
    ("by a comprehension", "print([n for n in range(3)])\n"),
    (
        "a name of a class that a comprehension of its body repeats",
        "class A:\n    names = 'ab'\n    pairs = [(n, m) for n in names for m in n]\n",
    ),
    (
        "by a pattern",
        "def f(x):\n    match x:\n        case [first, *rest]:\n            return first, rest\n",
    ),
    ("by an exception", "try:\n    pass\nexcept OSError as error:\n    print(error)\n"),
    ("by a star", "from os import *\ngetcwd()\n"),
    ("by `exec`", "exec(open('options.py').read())\nprint(batch_size)\n"),
    ("by `locals`", "locals()['options'] = {}\nprint(options)\n"),
    ("by `exec` in a branch", "if __name__:\n    exec('batch_size = 1')\nprint(batch_size)\n"),
    ("by `globals`", "globals().update(options={})\nprint(options)\n"),
    ("an annotation of a variable", "def f(x):\n    y: Missing = x\n    return y\n"),
    (
        "a postponed annotation",
        "from __future__ import annotations\ndef f(x: Missing) -> Missing:\n    return x\n",
    ),
    ("by IPython", "get_ipython().run_line_magic('matplotlib', 'inline')\n"),
    ("a function with a model", "def f(x):\n    return model(x)\nf(1)\n"),
    ("an excerpt with one model", "import torch\nloss = model(torch.ones(2)).mean()\n"),
    (
        "an excerpt",
        "for batch in loader:\n    optimizer.zero_grad()\n    criterion(model(batch))\n",
    ),
]


def _undefined(source: str, name: str = "a.py") -> set[str]:
    text = SourceText.from_bytes(Path("/nowhere") / name, source.encode())
    return {each.id for each in undefined_names(python_file(text))}


@pytest.mark.parametrize(
    ("source", "names"), [each[1:] for each in UNDEFINED], ids=[each[0] for each in UNDEFINED]
)
def test_undefined(source: str, names: set[str]) -> None:
    assert _undefined(source) == names
    models = SimpleNamespace(net=SimpleNamespace(eval=int))
    code = compile(source.replace("import models\n", ""), "a.py", "exec", dont_inherit=True)
    with pytest.raises(NameError):
        exec(code, {"models": models})


@pytest.mark.parametrize("source", [each[1] for each in DEFINED], ids=[each[0] for each in DEFINED])
def test_defined(source: str) -> None:
    assert not _undefined(source)
