"""What the flow says of the receiver of `.numpy()`, for one construct of Python at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import NonTensor, Tensor, Value
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.source.text.text import SourceText
from tests.context import python_file

HEAD = "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def receiver(source: str) -> Value:
    """The value of the receiver of the last `.numpy()` in the source."""
    text = SourceText(Path("case.py"), HEAD + source)
    return calls_in(python_file(text), frozenset({"numpy"}))[-1].receiver


def describe(value: Value) -> str:
    match value:
        case Tensor():
            words = (
                sorted(value.dtypes)
                + ["chosen"] * value.caller_chosen
                + ["partial"] * value.may_be_other
            )
            return " ".join(words)
        case _:
            return type(value).__name__


BF16 = "x = torch.ones(2, dtype=torch.bfloat16)\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(BF16 + "x.numpy()", "bfloat16", id="factory with dtype"),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = None\n" + BF16 + "x.numpy()",
            "bfloat16",
            id="optional import",
        ),
        pytest.param(
            BF16 + "try:\n    from einops import rearrange\nexcept ImportError:\n"
            "    rearrange = None\nrearrange(x, 'a -> a').numpy()",
            "bfloat16",
            id="optional import of a function",
        ),
        pytest.param("torch.ones(2).numpy()", "float32", id="factory without dtype"),
        pytest.param("torch.ones(2).to('cuda').numpy()", "float32", id="a device keeps the dtype"),
        pytest.param(BF16 + "x.to(dtype=torch.float16).numpy()", "float16", id="to(dtype=)"),
        pytest.param(BF16 + "y = torch.ones(2)\ny.to(x).numpy()", "bfloat16", id="to(other)"),
        pytest.param(BF16 + "torch.ones(2).type_as(x).numpy()", "bfloat16", id="type_as"),
        pytest.param(BF16 + "(x * 2.0).numpy()", "bfloat16", id="Python scalars are weak"),
        pytest.param(BF16 + "(x + torch.ones(2)).numpy()", "float32", id="promotion"),
        pytest.param(BF16 + "(x + x.half()).numpy()", "float32", id="bf16 + fp16 is fp32"),
        pytest.param(BF16 + "(x == 1).numpy()", "bool", id="comparison"),
        pytest.param(BF16 + "x.sum().numpy()", "bfloat16", id="reduction"),
        pytest.param("torch.arange(4).sum().numpy()", "int64", id="integer sum"),
        pytest.param("(torch.arange(4) / 2).numpy()", "float32", id="integer division"),
        pytest.param(BF16 + "x.softmax(-1, dtype=torch.float32).numpy()", "float32", id="dtype="),
        pytest.param(BF16 + "v, i = x.topk(1)\ni.numpy()", "int64", id="topk indices"),
        pytest.param(BF16 + "v, i = x.topk(1)\nv.numpy()", "bfloat16", id="topk values"),
        pytest.param(BF16 + "x.max(dim=0)[1].numpy()", "int64", id="max indices"),
        pytest.param(BF16 + "torch.where(x > 0)[0].numpy()", "int64", id="where with one argument"),
        pytest.param(BF16 + "torch.where(x > 0, x, 0.0).numpy()", "bfloat16", id="where"),
        pytest.param(BF16 + "x[0].numpy()", "bfloat16", id="indexing"),
        pytest.param(BF16 + "for row in x:\n    row.numpy()", "bfloat16", id="iteration"),
        pytest.param(BF16 + "[r.numpy() for r in x]", "bfloat16", id="comprehension"),
        pytest.param(BF16 + "xs = [x]\nxs[0].numpy()", "bfloat16", id="list"),
        pytest.param(
            BF16 + "xs = []\nxs.append(x)\ntorch.cat(xs).numpy()", "bfloat16", id="append"
        ),
        pytest.param(BF16 + "d = {'a': x}\nd['a'].numpy()", "bfloat16", id="dict"),
        pytest.param(BF16 + "d = {}\nd['a'] = x\nd['a'].numpy()", "bfloat16", id="dict item"),
        pytest.param(BF16 + "for k, v in {'a': x}.items():\n    v.numpy()", "bfloat16", id="items"),
        pytest.param(BF16 + "a, b = x, 1\na.numpy()", "bfloat16", id="tuple"),
        pytest.param(
            BF16 + "if (y := x.cpu()) is not None:\n    y.numpy()", "bfloat16", id="walrus"
        ),
        pytest.param(BF16 + "x += 1\nx.numpy()", "bfloat16", id="augmented"),
        pytest.param("t = 0\nt += torch.ones(1).half()\nt.numpy()", "float16", id="from a number"),
        pytest.param(BF16 + "if c:\n    x = x.float()\nx.numpy()", "bfloat16 float32", id="branch"),
        pytest.param(
            BF16 + "if c:\n    x = x.float()\nelse:\n    x = x.double()\nx.numpy()",
            "float32 float64",
            id="both branches",
        ),
        pytest.param(
            BF16 + "x = x.float() if c else x\nx.numpy()", "bfloat16 float32", id="ternary"
        ),
        pytest.param(
            BF16 + "y = torch.ones(1)\nfor i in range(n):\n    y = x\ny.numpy()",
            "bfloat16 float32",
            id="loop",
        ),
        pytest.param(
            BF16 + "y = torch.ones(1)\nfor i in range(3):\n    y = x\ny.numpy()",
            "bfloat16",
            id="loop with a pass",
        ),
        pytest.param(
            BF16 + "try:\n    x = x.float()\nexcept E:\n    pass\nx.numpy()",
            "bfloat16 float32",
            id="try",
        ),
        pytest.param(
            BF16 + "with torch.no_grad():\n    x = x.float()\nx.numpy()", "float32", id="with"
        ),
        pytest.param("def f(x: torch.Tensor):\n    x.numpy()", "chosen partial", id="parameter"),
        pytest.param(
            "def f(logits):\n    logits.sum(0).numpy()", "chosen partial", id="floating by name"
        ),
        pytest.param(
            "def f(x: 'torch.Tensor | None' = None):\n    x.numpy()",
            "chosen partial",
            id="optional",
        ),
        pytest.param("def f(ids: torch.Tensor):\n    ids.numpy()", "partial", id="integer by name"),
        pytest.param("def f(x: torch.LongTensor):\n    x.numpy()", "int64", id="LongTensor"),
        pytest.param("def f(x: np.ndarray):\n    x.numpy()", "NonTensor", id="array"),
        pytest.param("def f(x):\n    x.numpy()", "Unknown", id="nothing known"),
        pytest.param("def f(x):\n    x.cpu().numpy()", "partial", id="some tensor"),
        pytest.param("def f(m):\n    m.head.weight.data.numpy()", "chosen", id="weights"),
        pytest.param("def f(m):\n    m(1).logits.numpy()", "chosen partial", id="model output"),
        pytest.param(
            "def f(m):\n    for p in m.parameters():\n        p.numpy()", "chosen", id="params"
        ),
        pytest.param(
            "def f(x):\n    F.softmax(x, -1).numpy()", "chosen", id="a float of its input"
        ),
        pytest.param(
            "def f(x):\n    F.softmax(x.float(), -1).numpy()", "float32", id="cast before"
        ),
        pytest.param(
            "def f(x: torch.Tensor):\n    if x.dtype == torch.bfloat16:\n        x.numpy()",
            "bfloat16",
            id="guard",
        ),
        pytest.param(
            "def f(x: torch.Tensor):\n    assert x.dtype == torch.float32\n    x.numpy()",
            "float32",
            id="assert",
        ),
        pytest.param(
            "def f(x):\n    if isinstance(x, np.ndarray):\n        x.numpy()",
            "NonTensor",
            id="isinstance",
        ),
        pytest.param(
            "D = torch.bfloat16\ndef f():\n    torch.zeros(1, dtype=D).numpy()",
            "bfloat16",
            id="module constant",
        ),
        pytest.param(
            "class A:\n    d = torch.bfloat16\n    def f(self):\n"
            "        torch.zeros(1, dtype=self.d).numpy()",
            "bfloat16",
            id="class attribute",
        ),
        pytest.param(
            "class A:\n    def f(self):\n        self.x.numpy()\n    def __init__(self):\n"
            "        self.x = torch.zeros(1).bfloat16()",
            "bfloat16",
            id="self attribute",
        ),
        pytest.param(
            "d = {'a': torch.bfloat16, 'b': torch.float16}[n]\ntorch.ones(1, dtype=d).numpy()",
            "bfloat16 float16",
            id="dict of dtypes",
        ),
        pytest.param(
            "d = getattr(torch, 'bfloat16')\ntorch.ones(1, dtype=d).numpy()",
            "bfloat16",
            id="getattr",
        ),
        pytest.param(
            "with torch.autocast('cuda', dtype=torch.bfloat16):\n"
            "    y = F.linear(torch.ones(1).float(), torch.ones(1))\ny.numpy()",
            "bfloat16",
            id="autocast undoes a cast",
        ),
        pytest.param(
            "with torch.autocast('cuda', dtype=torch.bfloat16):\n"
            "    y = F.softmax(torch.ones(1).bfloat16(), -1)\ny.numpy()",
            "float32",
            id="autocast widens",
        ),
        *(
            pytest.param(
                f"with torch.autocast('{device}', dtype=torch.bfloat16):\n"
                f"    y = {widened}\ny.numpy()",
                dtype,
                id=f"autocast on {device}: {widened}",
            )
            for widened in (
                "nn.LayerNorm(2).bfloat16()(torch.ones(2).bfloat16())",
                "nn.GroupNorm(1, 2).bfloat16()(torch.ones(2).bfloat16())",
                "1 / torch.ones(2).bfloat16()",
            )
            for device, dtype in (("cuda", "float32"), ("cpu", "bfloat16"))
        ),
        pytest.param(
            "with torch.autocast('cuda', dtype=torch.bfloat16):\n"
            "    y = nn.BatchNorm1d(2).bfloat16()(torch.ones(2, 2).bfloat16())\ny.numpy()",
            "bfloat16",
            id="autocast leaves a batch norm alone",
        ),
        pytest.param(
            "x = torch.ones(2).bfloat16()\nwith torch.autocast('cuda', dtype=torch.bfloat16):\n"
            "    y = x / 2 * (x[0] / x)\ny.numpy()",
            "bfloat16",
            id="autocast leaves other quotients alone",
        ),
        pytest.param("import tensorflow as tf\ntf.ones(1).numpy()", "NonTensor", id="tensorflow"),
        pytest.param(
            "torch.from_numpy(a).numpy()",
            "bool float16 float32 float64 int16 int32 int64 int8 uint8",
            id="from_numpy",
        ),
    ],
)
def test_receiver(source: str, expected: str) -> None:
    assert describe(receiver(source)) == expected


def test_an_array_has_no_dtype_of_ours() -> None:
    assert receiver("np.ones(2).astype(np.float32).numpy()") == NonTensor(
        frozenset({"float32"}), scalar=False
    )
