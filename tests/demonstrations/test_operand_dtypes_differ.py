"""Operators that promote nothing: two dtypes raise, and a cast of one operand helps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

LABELS = torch.arange(4)
CALLS: dict[str, Callable[[Any, Any], object]] = {
    "lerp_": lambda x, y: x.lerp_(y, 0.5),
    "lerp": lambda x, y: torch.lerp(x, y, 0.5),
    "dot": lambda x, y: torch.dot(x[0], y[0]),
    "cross_entropy": lambda x, y: F.cross_entropy(x, LABELS, y[0]),
    "nll_loss": lambda x, y: F.nll_loss(x, LABELS, y[0]),
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy(x, y),
    "prelu": lambda x, y: F.prelu(x, y[0]),
    "addmm_": lambda x, y: x.addmm_(y, y),
    "isclose": lambda x, y: torch.isclose(x, y),
    "allclose": lambda x, y: torch.allclose(x, y),
}


@pytest.mark.parametrize("name", CALLS)
def test_two_dtypes_raise_and_one_works(name: str) -> None:
    for one, other in ((torch.bfloat16, torch.float32), (torch.float32, torch.float16)):
        y = torch.full((4, 4), 0.5, dtype=other)
        with pytest.raises(RuntimeError, match=r"dtype|scalar type|did not match|promoting"):
            CALLS[name](torch.full((4, 4), 0.5, dtype=one), y)
        CALLS[name](torch.full((4, 4), 0.5, dtype=one), y.to(one))
