"""The error that a finding names is the one that the program ends with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

torch = pytest.importorskip("torch")

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Linear(4, 4)

    def forward(self, x):
        x = self.scale(x)
        rows = torch.arange(4, device=x.device)
        table = torch.ones(4, 4, dtype=torch.float32, device=x.device)
        {statement}


def main():
    net = Net()
    net.to(torch.{dtype})
    print(net(torch.ones(4, 4, dtype=torch.{dtype})))


if __name__ == "__main__":
    main()
"""
STATEMENTS = {
    "a product": "return x @ table",
    "a product with the weights first": "return torch.bmm(table[None], x[None])",
    "a sum over rows": "return x.index_add_(0, rows, table)",
}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_the_error_of_the_operator(statement: str, dtype: str, tmp_path: Path) -> None:
    source = PROGRAM.format(statement=statement, dtype=dtype)
    with pytest.raises(RuntimeError) as raised:
        exec(compile(source, "net.py", "exec"), {"__name__": "__main__"})
    root = project(tmp_path, {"net.py": source})
    out = run("--select=MP412", "--preview", "--isolated", cwd=root).out
    assert f"RuntimeError: {raised.value}".removesuffix(".") in " ".join(out.split())
