"""How many weights an optimizer moves, by their dtype and by the learning rate."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")


def _network(dtype: torch.dtype) -> torch.nn.Module:
    torch.manual_seed(0)
    layers = torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 32)
    return torch.nn.Sequential(*layers).to(dtype)


def _moved(
    model: torch.nn.Module, rate: float, make: Callable[..., torch.optim.Optimizer]
) -> float:
    """The share of weights that 20 steps change."""
    before = [weight.detach().clone() for weight in model.parameters()]
    optimizer = make(model.parameters(), lr=rate)
    generator = torch.Generator().manual_seed(1)
    for _ in range(20):
        x, y = torch.randn(32, 64, generator=generator), torch.randn(32, 32, generator=generator)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x)
        (out.float() - y).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    moved = [(one != other).sum() for one, other in zip(before, model.parameters(), strict=True)]
    return float(sum(moved)) / sum(weight.numel() for weight in before)


@pytest.mark.parametrize("make", [torch.optim.AdamW, torch.optim.Adam])
def test_most_bfloat16_weights_stay_at_a_small_learning_rate(
    make: Callable[..., torch.optim.Optimizer],
) -> None:
    assert _moved(_network(torch.bfloat16), 1e-5, make) < 0.15
    assert _moved(_network(torch.float32), 1e-5, make) > 0.99


def test_most_bfloat16_weights_move_at_a_large_one() -> None:
    assert _moved(_network(torch.bfloat16), 1e-3, torch.optim.AdamW) > 0.95
    assert 0.1 < _moved(_network(torch.bfloat16), 1e-4, torch.optim.AdamW) < 0.7


def test_weight_decay_does_nothing() -> None:
    ends = []
    for dtype in (torch.float32, torch.bfloat16):
        weight = torch.nn.Parameter(torch.ones(4, dtype=dtype))
        weight.grad = torch.zeros_like(weight)
        optimizer = torch.optim.AdamW([weight], lr=1e-4, weight_decay=0.1)
        for _ in range(200):
            optimizer.step()
        ends.append(weight.detach().float().mean().item())
    assert ends[0] == pytest.approx(0.998, abs=1e-4)
    assert ends[1] == 1.0


def test_the_average_of_squares_stops_short() -> None:
    weight = torch.nn.Parameter(torch.ones(1, dtype=torch.bfloat16))
    optimizer = torch.optim.AdamW([weight], lr=1e-5)
    for _ in range(1500):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    assert optimizer.state[weight]["exp_avg_sq"].item() == 0.5


def test_a_float16_weight_without_gradient_becomes_nan() -> None:
    weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
    weight.grad = torch.tensor([0.1, 0.0], dtype=torch.float16)
    torch.optim.AdamW([weight], lr=1e-5).step()
    assert weight.isnan().tolist() == [False, True]
