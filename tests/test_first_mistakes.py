"""The mistakes that most people try first: found at the default settings, as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pitfalls.found import findings

LINEAR = """
import torch
from torch import nn

layer = nn.Linear(16, 4).to(torch.bfloat16)
x = torch.randn(8, 16)
print(layer(x).shape)
"""
LINEAR_IN_FUNCTIONS = """
import torch
from torch import nn


def build_model():
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    return model.to(torch.bfloat16)


def main():
    model = build_model()
    batch = torch.rand(4, 32)
    print(model(batch).argmax(-1))


if __name__ == "__main__":
    main()
"""
NAME = """
import torch

dtype = getattr(torch, "bf16")
x = torch.zeros(3, dtype=dtype)
"""
NAME_IN_FUNCTIONS = """
import torch

PRECISION = "bf16"


def load(precision=PRECISION):
    return torch.nn.Linear(3, 3).to(getattr(torch, precision))


model = load()
"""
TEXT = """
import torch

x = torch.zeros(4, 4, dtype="bfloat16")
"""
TEXT_IN_FUNCTIONS = """
import torch

config = {"dtype": "bfloat16", "size": 8}


def noise(cfg):
    return torch.randn(cfg["size"], dtype=cfg["dtype"])


noise(config)
"""
COMPARED = """
import torch

x = torch.randn(4).to(torch.bfloat16)
if x.dtype == "bfloat16":
    x = x.float()
assert x.dtype == torch.float32
"""
COMPARED_IN_FUNCTIONS = """
import torch


def to_list(x):
    if x.dtype == "bfloat16":
        x = x.float()
    assert x.dtype == torch.float32
    return x.tolist()


def main():
    print(to_list(torch.randn(4, dtype=torch.bfloat16)))


main()
"""
MASK = """
import torch

scores = torch.randn(2, 4, 4, dtype=torch.float16)
mask = torch.tril(torch.ones(4, 4)).bool()
print(scores.masked_fill(~mask, -1e9).softmax(-1))
"""
MASK_IN_FUNCTIONS = """
import math

import torch
import torch.nn.functional as F


def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return F.softmax(scores, dim=-1) @ v


def main():
    q, k, v = (torch.randn(1, 2, 8, 16).half() for _ in range(3))
    print(attention(q, k, v, torch.tril(torch.ones(8, 8))).shape)


main()
"""

MISTAKES = [
    (LINEAR, "MP410", 7, "randn(8, 16)", "randn(8, 16, dtype=torch.bfloat16)"),
    (LINEAR_IN_FUNCTIONS, "MP410", 14, "rand(4, 32)", "rand(4, 32).bfloat16()"),
    (NAME, "MP601", 4, '"bf16"', '"bfloat16"'),
    (NAME_IN_FUNCTIONS, "MP601", 8, '"bf16"', '"bfloat16"'),
    (TEXT, "MP602", 4, '"bfloat16"', "torch.bfloat16"),
    (TEXT_IN_FUNCTIONS, "MP602", 8, '"bfloat16"', "torch.bfloat16"),
    (COMPARED, "MP610", 5, '"bfloat16"', "torch.bfloat16"),
    (COMPARED_IN_FUNCTIONS, "MP610", 6, '"bfloat16"', "torch.bfloat16"),
    (MASK, "MP410", 6, "-1e9", "torch.finfo(scores.dtype).min"),
    (MASK_IN_FUNCTIONS, "MP410", 11, "-1e9", "torch.finfo(scores.dtype).min"),
]

with_mistakes = pytest.mark.parametrize(("program", "code", "row", "wrong", "right"), MISTAKES)


@with_mistakes
def test_a_first_mistake_is_found_by_default(
    program: str, code: str, row: int, wrong: str, right: str, tmp_path: Path
) -> None:
    bad = findings({"train.py": program}, tmp_path / "bad", "default")
    assert [(each.code, each.place.start.row) for each in bad] == [(code, row)]
    assert not findings({"train.py": program.replace(wrong, right)}, tmp_path / "good", "default")


@with_mistakes
def test_it_fails_when_it_runs(program: str, code: str, row: int, wrong: str, right: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises((AssertionError, AttributeError, RuntimeError, TypeError)):
        exec(compile(program, "train.py", "exec"), {"__name__": "__main__"})
    exec(compile(program.replace(wrong, right), "train.py", "exec"), {"__name__": "__main__"})
