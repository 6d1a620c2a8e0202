"""What half precision makes of positions and timesteps."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from precision_lint.model.ranges import LAYOUTS  # noqa: E402

_FREQUENCIES = 1.0 / 10000 ** (torch.arange(0, 64, 2).double() / 64)


def _off(positions: torch.Tensor) -> float:
    """How far the worst angle of 4,096 positions is off, in radians."""
    angles = torch.outer(positions.double(), _FREQUENCIES)
    right = torch.outer(torch.arange(len(positions)).double(), _FREQUENCIES)
    return float((angles - right).abs().max())


def test_positions_coincide() -> None:
    assert torch.arange(300, dtype=torch.bfloat16).unique().numel() == 279
    assert torch.arange(3000, dtype=torch.float16).unique().numel() == 2525
    assert torch.linspace(0, 999, 1000).bfloat16().unique().numel() < 520


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_short_ranges_are_exact(name: str) -> None:
    count = LAYOUTS[name].integers + 1
    numbers = torch.arange(count, dtype=getattr(torch, name))
    assert numbers.long().equal(torch.arange(count))


def test_angles_are_off_by_radians() -> None:
    assert _off(torch.arange(4096, dtype=torch.bfloat16)) > math.pi
    assert _off(torch.arange(4096, dtype=torch.float32)) == 0


def test_timesteps_are_others() -> None:
    steps = torch.tensor([937.0, 998.39])
    assert steps.bfloat16().tolist() == [936, 1000]
    assert (steps / 1000).bfloat16().double().sub(steps / 1000).abs().max() < 2e-3


def test_autocast_rounds_products_of_positions() -> None:
    positions, frequencies = torch.arange(4096.0), _FREQUENCIES.float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        product = positions[:, None] @ frequencies[None]
        outer = torch.outer(positions, frequencies)
        with torch.autocast("cpu", enabled=False):
            island = positions[:, None] @ frequencies[None]
    assert product.dtype == torch.bfloat16
    assert (product.double() - island.double()).abs().max() > math.pi
    assert outer.dtype == torch.float32
    assert outer.allclose(island)


class _Rotary(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("inv_freq", _FREQUENCIES.float(), persistent=False)

    def forward(self, count: int) -> torch.Tensor:
        return torch.outer(torch.arange(float(count)), self.inv_freq.float())


def test_a_buffer_that_no_file_holds_stays_rounded() -> None:
    trained = _Rotary()
    loaded = _Rotary().to(torch.bfloat16)
    loaded.load_state_dict(trained.state_dict())
    assert "inv_freq" not in trained.state_dict()
    assert (loaded(4096) - trained(4096)).abs().max() > math.pi / 2
    loaded.inv_freq = _FREQUENCIES.float()
    assert loaded(4096).equal(trained(4096))
