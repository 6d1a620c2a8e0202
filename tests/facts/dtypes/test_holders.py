"""What holds tensors on their way: named tuples, records, layers, queues, subclasses, guards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

HALF = "torch.ones(2).bfloat16()"
IMPORT = "from collections import namedtuple\nfrom dataclasses import dataclass\nimport queue\n"
EMA = (
    "class Ema:\n    def __init__(self, model):\n        self.d = {}\n"
    "        for n, p in model.named_parameters():\n            self.d[n] = p.data.clone()\n"
    "    def f(self):\n        for n, p in self.d.items():\n            p.numpy()\n"
)
RECORD = (
    "@dataclass\nclass Step:\n    x: torch.Tensor\n"
    "class Buffer:\n    def __init__(self):\n        self.items = []\n"
    "    def add(self, e: Step):\n        self.items.append(e)\n"
    "    def f(self):\n        for e in self.items:\n            e.x.numpy()\n"
)
SUBCLASS = (
    "class Base:\n    def f(self, x):\n        self.g(x).numpy()\n"
    "    def g(self, x):\n        ...\n"
    "class Sub(Base):\n    def __init__(self):\n        self.dtype = torch.bfloat16\n"
    "    def g(self, x):\n        return x.to(self.dtype){cast}\n"
)
ENTERED = (
    "class A:\n    def __enter__(self):\n        return {value}\n"
    "    def __exit__(self, *args): ...\n"
    "with A() as x:\n    x.numpy()\n"
)
GENERATED = (
    "from transformers import AutoModelForCausalLM\n"
    "m = AutoModelForCausalLM.from_pretrained('m', dtype=torch.bfloat16)\n"
    "out = m.generate(x, return_dict_in_generate=True, output_scores=True)\n"
)
GUARDED = (
    "def f(args, x):\n    x = x.to({dtype})\n"
    "    if args.bf16:\n        x = x.float()\n    x.numpy()\n"
)
MODULE = (
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.register_buffer('mean', torch.zeros(2))\n"
    "        self.register_buffer('count', torch.zeros(2, dtype=torch.int64))\n"
    "        self.table: torch.Tensor = nn.Buffer(torch.ones(2))\n"
    "        self.scale = nn.Parameter(torch.ones(2))\n        self.plain = torch.ones(2)\n"
    "net = Net().to(torch.bfloat16)\n"
)
METER = (
    "class Meter:\n    def __init__(self):\n        self.sum = 0\n"
    "    def add(self, x):\n        self.sum += x * 2\n"
    "    def f(self):\n        self.sum.numpy()\n"
)
CASES = [
    ("a buffer of a module that is cast", f"{MODULE}net.mean.numpy()\n", "bfloat16"),
    ("a buffer that is assigned", f"{MODULE}net.table.numpy()\n", "bfloat16"),
    ("a parameter", f"{MODULE}net.scale.numpy()\n", "bfloat16"),
    ("a buffer of integers", f"{MODULE}net.count.numpy()\n", "int64"),
    ("a tensor that is no buffer", f"{MODULE}net.plain.numpy()\n", "float32"),
    ("what is added up", f"{METER}Meter().add({HALF})\n", "bfloat16 partial"),
    ("what is added up in float32", f"{METER}Meter().add({HALF}.float())\n", "float32 partial"),
    (
        "an attribute of a class",
        "class A:\n    x = None\n    @classmethod\n    def load(cls):\n"
        f"        cls.x = {HALF}\n    @classmethod\n    def f(cls):\n        cls.x.numpy()\n",
        "bfloat16",
    ),
    ("a namespace", f"from types import SimpleNamespace as N\nN(x={HALF}).x.numpy()\n", "bfloat16"),
    ("a subclass of dict", f"class D(dict): ...\nD(x={HALF})['x'].numpy()\n", "bfloat16"),
    (
        "codes of a codec",
        "from transformers import AutoModel\n"
        "m = AutoModel.from_pretrained('m', dtype=torch.bfloat16)\n"
        "m.encode(x).audio_codes.numpy()\n",
        "int64",
    ),
    (
        "a pool of threads",
        f"def one(x):\n    return {HALF}\n"
        "def f(pool, xs):\n    for x in pool.map(one, xs):\n        x.numpy()\n",
        "bfloat16",
    ),
    ("a named tuple", f"P = namedtuple('P', 'x y')\nP({HALF}, 1).x.numpy()\n", "bfloat16"),
    (
        "names that Python replaces",
        f"P = namedtuple('P', 'class x', rename=True)\nP(1, {HALF}).x.numpy()\n",
        "Unknown",
    ),
    ("unpacked", f"P = namedtuple('P', ['x', 'y'])\nx, y = P({HALF}, 1)\nx.numpy()\n", "bfloat16"),
    (
        "the other field",
        f"P = namedtuple('P', ['x', 'y'])\nx, y = P({HALF}, torch.ones(2))\ny.numpy()\n",
        "float32",
    ),
    (
        "the layers of a Sequential",
        "for layer in nn.Sequential(nn.Linear(2, 2)).bfloat16():\n    layer(x).numpy()\n",
        "bfloat16",
    ),
    ("a queue", f"q = queue.Queue()\nq.put({HALF}, True)\nq.get().numpy()\n", "bfloat16"),
    (
        "a list that is made by a call",
        f"xs = list()\nxs.append({HALF})\nxs[0].numpy()\n",
        "bfloat16",
    ),
    ("what __enter__ gives", ENTERED.format(value=HALF), "bfloat16"),
    ("what __enter__ casts", ENTERED.format(value=f"{HALF}.float()"), "float32"),
    (
        "parameters by name",
        f"{EMA}Ema(nn.Sequential(nn.Linear(2, 2)).bfloat16()).f()\n",
        "bfloat16",
    ),
    ("parameters of a float32 model", f"{EMA}Ema(nn.Linear(2, 2)).f()\n", "float32"),
    ("a record that is annotated", f"{RECORD}Buffer().add(Step({HALF}))\n", "bfloat16"),
    ("a record in float32", f"{RECORD}Buffer().add(Step({HALF}.float()))\n", "float32"),
    ("an attribute of a subclass", SUBCLASS.format(cast=""), "bfloat16"),
    ("a subclass that casts", SUBCLASS.format(cast=".float()"), "float32"),
    ("hidden states of generate", f"{GENERATED}out.hidden_states[-1][-1].numpy()\n", "bfloat16"),
    ("scores of generate", f"{GENERATED}out.scores[0].numpy()\n", "float32"),
    ("sequences of generate", f"{GENERATED}out.sequences.numpy()\n", "int64"),
    (
        "a setting that picks the dtype and casts back",
        GUARDED.format(dtype="torch.bfloat16 if args.bf16 else torch.float32"),
        "float32",
    ),
    ("a dtype in each case", GUARDED.format(dtype="torch.bfloat16"), "bfloat16 float32"),
]


@pytest.mark.parametrize(
    ("source", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_holders(source: str, expected: str, tmp_path: Path) -> None:
    assert described(last_call(tmp_path, main=IMPORT + source).receiver) == expected
