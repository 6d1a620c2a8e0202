"""Which statements work with something that their function gives a dtype."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from precision_lint.facts.dtypes.syntax.deciding import decides_dtypes_around
from precision_lint.facts.dtypes.syntax.item_writes import may_be_indexed_write
from precision_lint.source.text.text import SourceText
from tests.context import python_file

MARK = "mm"


def is_decided(body: str, parameters: str = "self, x, y") -> bool:
    source = f"def forward({parameters}):\n    {body}\n"
    file = python_file(SourceText.from_bytes(Path("/nowhere/a.py"), source.encode()))
    calls = [each for each in file.nodes if isinstance(each, ast.Call)]
    (marked,) = (each for each in calls if ast.unparse(each.func).endswith(MARK))
    return decides_dtypes_around(marked, file)


@pytest.mark.parametrize(
    "body",
    [
        "return torch.mm(x.float(), y)",
        "x = x.half()\n    y = x + 1\n    return torch.mm(x, y)",
        "a, b = torch.zeros(2), y\n    return torch.mm(b, y)",
        "self.layer.half()\n    return torch.mm(self.layer(x), y)",
        "layer = self.layer\n    layer.weight.data = x.double()\n    return torch.mm(layer(x), y)",
        "for each in torch.randn(3):\n        x = each\n    return torch.mm(x, y)",
        "while x:\n        z = torch.mm(w, y)\n        w = y.float()",
        "with torch.autocast('cuda'):\n        return torch.mm(x, y)",
        "if (z := y.half()) is not None:\n        return torch.mm(x, y)",
        "def cast(z):\n        return z.half()\n    return torch.mm(cast(x), y)",
    ],
)
def test_what_the_function_gives_a_dtype(body: str) -> None:
    assert is_decided(body)


@pytest.mark.parametrize(
    "body",
    [
        "return torch.mm(x, y)",
        "z = x.float()\n    return torch.mm(x, y)",
        "x = x.view(2)\n    z = torch.zeros(2)\n    z = torch.sum(z)\n    return torch.mm(x, y)",
        "def cast(z):\n        return z.half()\n    return torch.mm(x, y)",
    ],
)
def test_what_it_does_not(body: str) -> None:
    assert not is_decided(body)


def test_parameters_that_are_dtypes() -> None:
    body = "return torch.mm(x.to(kind), y)"
    assert is_decided(body, "x, y, kind=torch.float16")
    assert not is_decided("return torch.mm(x, y)", "x, y, kind=torch.float16")


@pytest.mark.parametrize(
    ("body", "is_write"),
    [
        ("x[mask] = y.float()", True),
        ("x[mask] = y.to(z.dtype)", True),
        ("x[mask] = y.to(x.dtype)", False),
        ("self.x[mask] = y.to(self.x.dtype)", False),
        ("x[mask] = 3", False),
        ("table = {}\n    table[key] = y", False),
        ("table: dict = dict()\n    table[key] = y", False),
        ("table = {}\n    table = torch.zeros(2)\n    table[mask] = y", True),
    ],
)
def test_indexed_writes(body: str, is_write: bool) -> None:
    source = f"def forward(self, x, y, z, mask, key):\n    {body}\n"
    file = python_file(SourceText.from_bytes(Path("/nowhere/a.py"), source.encode()))
    (stored,) = (
        each
        for each in file.nodes
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)
    )
    assert may_be_indexed_write(stored, file) is is_write
