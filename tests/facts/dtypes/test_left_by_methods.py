"""What methods of a module leave in its attributes, once the module was cast."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

ATTENTION = """
class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim)
        self.last = {start}

    def forward(self, x):
        scores = self.qkv(x)
        self.last = {left}
        return scores
"""
STACK = """
class Stack(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.blocks = nn.ModuleList(Attention(dim) for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

    def maps(self):
        return [block.last for block in self.blocks]
"""
DIRECT = "m = Attention(4){cast}\nm(torch.rand(2, 4){cast})\nm.last.numpy()\n"
INSIDE = "m = Stack(4){cast}\nm(torch.rand(2, 4){cast})\nfor one in m.maps():\n    one.numpy()\n"


@pytest.mark.parametrize("use", [DIRECT, INSIDE], ids=["of the module", "of modules in it"])
@pytest.mark.parametrize(
    ("start", "left", "cast", "expected"),
    [
        ("None", "scores.detach()", ".bfloat16()", "bfloat16"),
        ("None", "scores.float()", ".bfloat16()", "float32"),
        ("None", "scores", "", "float32"),
        ("torch.zeros(4)", "scores", ".bfloat16()", "bfloat16 float32"),
    ],
)
def test_results_of_layers_have_the_dtype_of_the_cast(
    start: str, left: str, cast: str, expected: str, use: str, tmp_path: Path
) -> None:
    source = ATTENTION.format(start=start, left=left) + STACK + use.format(cast=cast)
    receiver = described(last_call(tmp_path, main=source).receiver)
    assert receiver.removesuffix(" partial") == expected
