"""Where a total in half precision stops."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def _total(dtype: torch.dtype, addend: float, count: int) -> float:
    total, one = torch.zeros((), dtype=dtype), torch.tensor(addend)
    for _ in range(count):
        total += one
    assert total.dtype == dtype  # in-place addition keeps it
    return float(total)


@pytest.mark.parametrize(("dtype", "stop"), [(torch.bfloat16, 256), (torch.float16, 2048)], ids=str)
def test_it_stops(dtype: torch.dtype, stop: int) -> None:
    assert _total(dtype, 1, 3000) == stop
    assert _total(torch.float32, 1, 3000) == 3000


def test_a_mean_loss_is_less_than_half() -> None:
    assert _total(torch.bfloat16, 2.3, 1000) / 1000 < 1.1
    assert _total(torch.float32, 2.3, 1000) / 1000 == pytest.approx(2.3, rel=1e-4)
