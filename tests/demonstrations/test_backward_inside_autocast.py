"""A training loop inside one autocast region learns nothing, and says nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import pytest

torch = pytest.importorskip("torch")


def losses(
    around_loop: AbstractContextManager[object], in_loop: AbstractContextManager[object]
) -> list[float]:
    """The losses of eight steps of a linear regression."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(64, 8)
    target = x.sum(1, keepdim=True)
    found = []
    with around_loop:
        for _ in range(8):
            with in_loop:
                loss = (model(x).float() - target).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            found.append(loss.item())
    return found


def region(cache: bool | None = None) -> AbstractContextManager[object]:
    return torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=cache)  # type: ignore[no-any-return]


@pytest.mark.parametrize("in_loop", [nullcontext(), region()], ids=["one region", "nested"])
def test_inside_one_region_every_pass_reads_the_first_weights(
    in_loop: AbstractContextManager[object],
) -> None:
    found = losses(region(), in_loop)
    print("loss, one region around the loop:", found)
    assert found == [found[0]] * 8


def test_a_region_in_the_loop_sees_each_step() -> None:
    found = losses(nullcontext(), region())
    print("loss, a region in each pass:", found)
    assert found[-1] < found[0] / 20


def test_so_does_a_region_without_a_cache() -> None:
    assert losses(region(cache=False), nullcontext()) == losses(nullcontext(), region())


def test_float32_learns_the_same_way() -> None:
    wrong = losses(region(), nullcontext())[-1]
    right = losses(nullcontext(), region())[-1]
    exact = losses(nullcontext(), nullcontext())[-1]
    assert right == pytest.approx(exact, rel=0.02)
    assert wrong > 20 * exact
