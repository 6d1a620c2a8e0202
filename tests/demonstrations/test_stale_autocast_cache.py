"""A weight that changes inside an autocast region is not seen by the products behind it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import pytest

torch = pytest.importorskip("torch")


def step(layer: object) -> None:
    layer.weight.grad = torch.full((4, 4), -8.0)
    torch.optim.SGD(layer.parameters(), lr=1.0).step()


def load(layer: object) -> None:
    layer.load_state_dict({"weight": torch.full((4, 4), 9.0)})


def in_inner_region(layer: object) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        step(layer)


def before_and_after(
    change: Callable[[object], None], cache: bool | None = None, trains: bool = True
) -> tuple[float, float]:
    """What a layer of ones gives before and after its weights become 9, in one region."""
    layer = torch.nn.Linear(4, 4, bias=False).requires_grad_(trains)
    torch.nn.init.ones_(layer.weight)
    x = torch.ones(1, 4)
    with (
        torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=cache),
        nullcontext() if trains else torch.no_grad(),
    ):
        before = layer(x)
        change(layer)
        after = layer(x)
    assert (layer.weight == 9).all()
    return before[0, 0].item(), after[0, 0].item()


@pytest.mark.parametrize("change", [step, load, in_inner_region])
def test_the_old_weights_are_used(change: Callable[[object], None]) -> None:
    found = before_and_after(change)
    print("4 weights of 1, then of 9:", found)
    assert found == (4.0, 4.0)


def test_without_a_cache_the_new_ones_are() -> None:
    assert before_and_after(step, cache=False) == (4.0, 36.0)


def test_clearing_the_cache_helps() -> None:
    def change(layer: object) -> None:
        step(layer)
        torch.clear_autocast_cache()

    assert before_and_after(change) == (4.0, 36.0)


def test_frozen_weights_are_not_cached() -> None:
    assert before_and_after(load, trains=False) == (4.0, 36.0)
