"""Which files need no interpretation: nothing that they fix meets what they do not fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.escaping import fixed_dtypes_meeting_others
from precision_lint.source.text.text import SourceText
from tests.context import python_file

NORM = """
class Norm(nn.Module):
    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * x{cast}

class Layer(nn.Module):
    def __init__(self):
        self.norm = Norm()
        self.proj = nn.Linear(2, 2)

    def forward(self, x):
        return self.proj(self.norm(x))
"""
ROTARY = """
def apply(q, cos):
    return q * cos

def attend(query, key, value):
    weights = torch.matmul(query, key).softmax(-1, dtype=torch.float32).to(query.dtype)
    return torch.matmul(weights, value)

class Rotary(nn.Module):
    def forward(self, x, positions):
        angles = positions.float() @ self.inv_freq.float()
        return angles.cos(){cast}

class Layer(nn.Module):
    def __init__(self):
        self.rotary = Rotary()
        self.layers = nn.ModuleList([Layer()])

    def forward(self, x):
        cos = self.rotary(x, positions)
        function = TABLE.get_interface(name, attend)
        for layer in self.layers:
            x = layer(x)
        return function(apply(x, cos), apply(x, cos), x)
"""


def meets(source: str) -> bool:
    text = SourceText.from_bytes(Path("/nowhere/a.py"), source.encode())
    return bool(fixed_dtypes_meeting_others(python_file(text)))


@pytest.mark.parametrize(("source", "cast"), [(NORM, ".to(dtype)"), (ROTARY, ".to(x.dtype)")])
def test_what_is_cast_back_meets_nothing(source: str, cast: str) -> None:
    assert not meets(source.format(cast=cast))
    assert meets(source.format(cast=""))


@pytest.mark.parametrize(
    "body",
    [
        "return F.linear(x.float(), self.weight)",
        "return x.float() @ self.weight",
        "out = torch.zeros(2, dtype=x.dtype)\n    out[x > 0] = y.float()",
        "return torch.einsum('ij,jk->ik', x.half(), self.weight)",
        "if c:\n        x = x.double()\n    return torch.bmm(x, y)",
        "dtype = x.float().dtype\n    return torch.bmm(x.to(dtype), y)",
        "return torch.zeros(2).index_add(0, index, x)",
        "for _ in c:\n        y = torch.bmm(z, y)\n        z = x.float()",
        "table = {}\n    table[c] = x.float()\n    return torch.bmm(table[c], y)",
        "a, b = {}, {}\n    b['x'] = x.float()\n    return torch.bmm(b['x'], y)",
    ],
)
def test_operands_that_need_one_dtype(body: str) -> None:
    assert meets(f"def forward(self, x, y, z, c, index):\n    {body}\n")


@pytest.mark.parametrize(
    "body",
    [
        "return F.linear(x.float(), self.weight.float())",
        "return torch.bmm(x.float().to(y.dtype), y)",
        "return torch.bmm(x.float().to(y), y).type_as(y)",
        "out = torch.zeros(2)\n    out[0] = y\n    out[:, 1:] = 3\n    return len(out)",
        "self.table = torch.zeros(2)\n    return x.float().argmax() > 2",
        "return Output(logits=self.head(x).float())",
        "return torch.einsum('ij,jk->ik', x, self.weight).float()",
        "return torch.bmm(torch.max(x, torch.full((), 0.5)), y)",
        "return torch.bmm(x, y + torch.full(x.shape, 0))",
        "x = {}\n    x[y] = z.float()\n    return x",
        "return F.cross_entropy(x.float(), y)",
    ],
)
def test_what_needs_none(body: str) -> None:
    assert not meets(f"def forward(self, x, y):\n    {body}\n")


SHARED = """
def rotate(x):
    return x * 2

class Vision(nn.Module):
    def forward(self, x):
        return rotate(x.float()).to(x.dtype)

class Text(nn.Module):
    def __init__(self):
        self.proj = nn.Linear(2, 2)
        self.table = nn.Embedding(2, 2)

    def forward(self, x, ids):
        return self.proj({given})
"""


@pytest.mark.parametrize("given", ["rotate(x)", "x + self.table(ids.float())"])
def test_what_is_given_decides_on_the_result(given: str) -> None:
    assert not meets(SHARED.format(given=given))


def test_a_shared_function_that_is_given_something_fixed() -> None:
    assert meets(SHARED.format(given="rotate(x.float())"))


def test_a_function_that_is_found_to_return_something_fixed_later() -> None:
    assert meets("""
def outer(x, y):
    return torch.bmm(inner(x), y)

def inner(x):
    return innermost(x)

def innermost(x):
    return x.float()
""")
