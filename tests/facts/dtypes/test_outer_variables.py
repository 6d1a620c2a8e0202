"""Variables that functions change though they are not their own: closures, hooks, globals."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import UNKNOWN
from tests.facts.dtypes.following import described, last_call

HALF = "torch.ones(2).bfloat16()"
CLOSURES = [
    (
        "a list of the function around it",
        "def f():\n    xs = []\n    def add(x):\n        xs.append(x)\n"
        f"    for i in range(3):\n        add({HALF})\n    torch.cat(xs).numpy()\n",
        "bfloat16",
    ),
    (
        "a dictionary",
        "def f():\n    d = {}\n    def put(k, x):\n        d[k] = x\n"
        f"    put('a', {HALF})\n    d['a'].numpy()\n",
        "bfloat16",
    ),
    (
        "nonlocal",
        "def f():\n    best = None\n    def keep(x):\n        nonlocal best\n        best = x\n"
        f"    keep({HALF})\n    best.numpy()\n",
        "bfloat16",
    ),
    (
        "a variable of the same name is another one",
        "def f():\n    best = torch.ones(2)\n    def keep(x):\n        best = x\n"
        f"    keep({HALF})\n    best.numpy()\n",
        "float32",
    ),
    (
        "cast before it is kept",
        "def f():\n    xs = []\n    def add(x):\n        xs.append(x.float())\n"
        f"    add({HALF})\n    torch.cat(xs).numpy()\n",
        "float32",
    ),
    (
        "a function inside of another one",
        "def f():\n    d = {}\n    def make(k):\n        def put(x):\n            d[k] = x\n"
        f"        return put\n    make('a')({HALF})\n    d['a'].numpy()\n",
        "bfloat16",
    ),
    (
        "a function that calls another one",
        "def f():\n    xs = []\n    def add(x):\n        xs.append(x)\n"
        f"    def step():\n        add({HALF})\n    step()\n    torch.cat(xs).numpy()\n",
        "bfloat16",
    ),
    (
        "given to a function that calls it",
        "def each(g, x):\n    g(x)\n"
        "def f():\n    xs = []\n    def add(x):\n        xs.append(x)\n"
        f"    each(add, {HALF})\n    torch.cat(xs).numpy()\n",
        "bfloat16",
    ),
]
HOOKS = [
    (
        "a function",
        "def f(x):\n    d = {}\n    def hook(m, i, o):\n        d['x'] = o\n"
        "    model = nn.Sequential(nn.Linear(2, 2)).bfloat16()\n"
        "    model[0].register_forward_hook(hook)\n    model(x)\n    d['x'].numpy()\n",
        "bfloat16",
    ),
    (
        "a function that is made by another one",
        "def make(d):\n    def hook(m, i, o):\n        d.append(o.detach())\n    return hook\n"
        "def f(x):\n    d = []\n    model = nn.Sequential(nn.Linear(2, 2)).bfloat16()\n"
        "    model[0].register_forward_hook(make(d))\n    model(x)\n    torch.cat(d).numpy()\n",
        "bfloat16",
    ),
    (
        "a lambda",
        "def f(x):\n    d = []\n    model = nn.Sequential(nn.Linear(2, 2)).bfloat16()\n"
        "    model[0].register_forward_hook(lambda m, i, o: d.append(o))\n    model(x)\n"
        "    torch.cat(d).numpy()\n",
        "bfloat16",
    ),
    (
        "of a model that a caller gives",
        "class A:\n    def __init__(self, m):\n        self.xs = []\n"
        "        m.register_forward_hook(self.hook)\n"
        "    def hook(self, m, i, o):\n        self.xs.append(o)\n"
        "    def f(self):\n        torch.cat(self.xs).numpy()\n"
        "A(nn.Sequential(nn.Linear(2, 2)).bfloat16())\n",
        "bfloat16",
    ),
    (
        "a nested function with the object of the method",
        "class A:\n    def __init__(self):\n        m = nn.Sequential(nn.Linear(2, 2)).bfloat16()\n"
        "        def hook(module, i, o):\n            self.x = o.detach()\n"
        "        m.register_forward_hook(hook)\n"
        "    def f(self):\n        self.x.numpy()\n",
        "bfloat16",
    ),
    (
        "of a model in float32",
        "def f(x):\n    d = []\n    def hook(m, i, o):\n        d.append(o.detach())\n"
        "    model = nn.Sequential(nn.Linear(2, 2))\n    model[0].register_forward_hook(hook)\n"
        "    model(x)\n    torch.cat(d).numpy()\n",
        "float32",
    ),
]
GLOBALS = [
    (
        "assigned by a function",
        f"x = None\ndef load():\n    global x\n    x = {HALF}\ndef f():\n    x.numpy()\n",
        "bfloat16",
    ),
    (
        "a list that a function fills",
        f"xs = []\ndef add(x):\n    xs.append(x)\nadd({HALF})\ndef f():\n    xs[0].numpy()\n",
        "bfloat16",
    ),
    (
        "a list that is filled and read at the top level",
        f"xs = []\ndef add(x):\n    xs.append(x)\nadd({HALF})\nxs[0].numpy()\n",
        "bfloat16",
    ),
    (
        "a queue and an endless loop",
        "import queue\nq = queue.Queue()\n"
        f"def work():\n    while True:\n        q.put({HALF})\ndef f():\n    q.get().numpy()\n",
        "bfloat16",
    ),
    (
        "unpacked",
        f"def load():\n    return {HALF}, 1\nx, n = load()\ndef f():\n    x.numpy()\n",
        "bfloat16",
    ),
    (
        "a model that the top level casts",
        "model = nn.Sequential(nn.Linear(2, 2))\nmodel.eval().bfloat16()\n"
        "def f(x):\n    model(x).numpy()\n",
        "bfloat16",
    ),
    (
        "a local variable of the same name",
        f"x = torch.ones(2)\ndef load():\n    x = {HALF}\ndef f():\n    x.numpy()\n",
        "float32",
    ),
]
CASES = [*CLOSURES, *HOOKS, *GLOBALS]


KEPT = (
    "STORE = {}\nLAST = None\ndef keep(k, x):\n    global LAST\n    STORE[k] = x\n    LAST = x\n"
    "def step(x):\n    keep('a', x)\n    keep('b', x.float())\n"
)
FROM_OUTSIDE = [
    ("through two functions", f"{KEPT}step({HALF})\nSTORE['a'].numpy()\n", "bfloat16"),
    ("under another key", f"{KEPT}step({HALF})\nSTORE['b'].numpy()\n", "float32"),
    ("cast before", f"{KEPT}step({HALF}.float())\nSTORE['a'].numpy()\n", "float32"),
    ("global, the last of two", f"{KEPT}step({HALF})\nLAST.numpy()\n", "bfloat16 float32"),
    (
        "global, cast before",
        f"{KEPT}def run(x):\n    keep('a', x.float())\nrun({HALF})\nLAST.numpy()\n",
        "float32",
    ),
    (
        "from a function",
        f"{KEPT}def main():\n    step({HALF})\n    STORE['a'].numpy()\nmain()\n",
        "bfloat16 float32",
    ),
    (
        "from a function, cast before",
        f"{KEPT}def main():\n    step({HALF}.float())\n    STORE['a'].numpy()\nmain()\n",
        "float32",
    ),
    (
        "a variable of the same name is another one",
        f"{KEPT}def run(x):\n    STORE = {{}}\n    STORE['a'] = x\n    keep('a', x.float())\n"
        f"run({HALF})\nSTORE['a'].numpy()\n",
        "float32",
    ),
    (
        "a function that changes it, too",
        f"{KEPT}def run(x):\n    keep('a', x)\n    STORE['c'] = x.float()\n"
        f"run({HALF})\nSTORE['c'].numpy()\n",
        "float32",
    ),
]
CASES += FROM_OUTSIDE


@pytest.mark.parametrize(
    ("source", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_outer_variables(source: str, expected: str, tmp_path: Path) -> None:
    receiver = last_call(tmp_path, main=source).receiver
    assert described(receiver) == expected


def test_a_table_that_another_file_fills(tmp_path: Path) -> None:
    """It stays empty where it is made, and nothing is known of what is in it."""
    source = "from tables import TABLE\nTABLE['a'].numpy()\n"
    receiver = last_call(tmp_path, main=source, tables="TABLE = {}\n").receiver
    assert receiver == UNKNOWN
