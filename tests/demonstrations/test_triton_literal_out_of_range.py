"""Numbers beside half-precision elements are converted first, and some of them are gone then."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def beside(number: float, dtype: object) -> object:
    """What Triton makes of a number; bfloat16 gets six decimals of it."""
    written = float(f"{number:.6f}") if dtype is torch.bfloat16 else number
    return torch.tensor(written, dtype=dtype)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_a_small_summand_keeps_nothing_from_zero(name: str) -> None:
    dtype = getattr(torch, name)
    norm = torch.zeros(4, dtype=dtype)
    wrong = norm.float() / (norm + beside(1e-8, dtype)).float()
    right = norm.float() / (norm.float() + 1e-8)
    print(name, "0 / (0 + 1e-8):", wrong[0].item(), "in float32:", right[0].item())
    assert wrong.isnan().all()
    assert right.tolist() == [0.0] * 4


def test_a_large_factor_is_infinity_in_float16() -> None:
    mask = torch.tensor([0.0, 1.0], dtype=torch.float16)
    wrong = mask * beside(-1e9, torch.float16)
    print("[0, 1] * -1e9 in float16:", wrong.tolist())
    assert wrong[0].isnan()
    assert wrong[1] == float("-inf")
    assert (mask.float() * -1e9).isfinite().all()
