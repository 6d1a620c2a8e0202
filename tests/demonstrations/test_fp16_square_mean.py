"""What float16 makes of squares."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def test_squares_of_300_are_infinite() -> None:
    x = torch.full((8,), 300.0).half()
    for wrong in (x.pow(2).mean(), (x**2).sum(), (x * x).mean(), torch.mean(x.square())):
        assert wrong.isinf()
    assert x.pow(2).mean(dtype=torch.float32).isinf()
    assert x.float().pow(2).mean() == 90_000
    assert float(x.bfloat16().pow(2).mean()) == pytest.approx(90_000, rel=1 / 64)


def test_a_norm_gives_zeros() -> None:
    x = torch.full((8,), 300.0).half()
    wrong = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    right = (x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).half()
    assert wrong.eq(0).all()
    assert right.eq(1).all()


def test_squares_of_small_numbers_are_0() -> None:
    x = torch.tensor([1.6e-4, 2.5e-4]).half()
    assert x.pow(2).eq(0).tolist() == [True, False]
