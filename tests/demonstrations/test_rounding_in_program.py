"""What half precision does to the numbers that the rule is about, and the examples of its page."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from rules import rounding_in_program

torch = pytest.importorskip("torch")

_FENCE = re.compile(r"```python\n(.*?)```", re.DOTALL)
DTYPES = (torch.bfloat16, torch.float32)


def test_positions_coincide() -> None:
    counts = [torch.arange(1000).to(each).unique().numel() for each in DTYPES]
    assert counts[0] < 520
    assert counts[1] == 1000


def test_frequencies_in_half_precision_give_other_angles() -> None:
    frequencies = 10000.0 ** -(torch.arange(0, 32, 2) / 32)
    positions = torch.arange(4096).float()
    exact = torch.outer(positions, frequencies).cos()
    rounded = torch.outer(positions, frequencies.to(torch.bfloat16)).cos()
    assert (exact - rounded).abs().max() > 0.5


@pytest.mark.parametrize(("dtype", "last"), [*zip(DTYPES, (256, 1000), strict=True)])
def test_a_count_stops(dtype: Any, last: int) -> None:
    total = torch.zeros((), dtype=dtype)
    for _ in range(1000):
        total += 1
    assert total.item() == last


def test_a_running_sum_skips_numbers() -> None:
    counts = [torch.ones(600, dtype=each).cumsum(-1).unique().numel() for each in DTYPES]
    assert counts[0] < counts[1] == 600


@pytest.mark.parametrize(("dtype", "moves"), [*zip(DTYPES, (False, True), strict=True)])
def test_an_average_does_not_move(dtype: Any, moves: bool) -> None:
    weight = torch.ones(4, dtype=dtype)
    mean = copy.deepcopy(weight)
    for _ in range(1000):
        mean.mul_(0.999).add_(weight + 0.125, alpha=0.001)
    assert (abs(mean.mean().item() - 1.079) < 0.01) is moves


def test_noise_has_exact_zeros_and_small_numbers_vanish() -> None:
    torch.manual_seed(0)
    assert torch.rand(100_000, dtype=torch.bfloat16).log().isinf().any()
    assert not torch.rand(100_000).log().isinf().any()
    assert (torch.zeros(3).half() + 1e-8 == 0).all()
    assert (torch.zeros(3) + 1e-8 > 0).all()


@pytest.mark.parametrize(("number", "moves"), [(0, False), (1, True)])
def test_the_examples_of_the_page(number: int, moves: bool) -> None:
    scope: dict[str, Any] = {}
    torch.manual_seed(0)
    exec(_FENCE.findall(rounding_in_program.__doc__ or "")[number], scope)
    torch.manual_seed(0)
    before = torch.nn.Linear(64, 8).weight
    after = scope["model"].weight
    changed = (before.to(after.dtype) != after).float().mean().item()
    assert changed > 0.9 if moves else changed < 0.2
