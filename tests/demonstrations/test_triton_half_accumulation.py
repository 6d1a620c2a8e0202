"""Sums in half precision stop growing, as a Triton kernel that does not convert computes them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def added_up(values: object, dtype: object) -> float:
    """One value after the other, each sum rounded to `dtype`."""
    total = torch.zeros((), dtype=dtype)
    for value in values.to(dtype):
        total = total + value
    return float(total)


@pytest.mark.parametrize(("dtype", "stops_at"), [("bfloat16", 256.0), ("float16", 2048.0)])
def test_a_sum_of_ones_stops(dtype: str, stops_at: float) -> None:
    ones = torch.ones(4096)
    wrong, right = added_up(ones, getattr(torch, dtype)), added_up(ones, torch.float32)
    print(dtype, "sum of 4096 ones:", wrong, "in float32:", right)
    assert wrong == stops_at
    assert right == 4096.0


def test_a_float16_sum_of_squares_overflows() -> None:
    squares = torch.full((64,), 40.0) ** 2
    assert added_up(squares, torch.float16) == float("inf")
    assert added_up(squares, torch.float32) == 102400.0


def test_a_mean_of_squares_shrinks() -> None:
    """Threads add up what they hold one by one, then the sums of the threads pair by pair."""
    values = torch.rand(64, 1024, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    sums = torch.zeros(64, dtype=torch.bfloat16)
    for column in (values * values).unbind(1):
        sums = sums + column
    while len(sums) > 1:
        sums = sums[0::2] + sums[1::2]
    wrong, right = float(sums) / values.numel(), float((values.float() ** 2).mean())
    print("mean of squares:", wrong, "in float32:", right)
    assert right == pytest.approx(1 / 3, rel=0.01)
    assert wrong < 0.8 * right
