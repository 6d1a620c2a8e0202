"""What loss scaling is for in float16, and that bfloat16 has no use for it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def _gradient(dtype, scale: float) -> float:  # type: ignore[no-untyped-def]
    """The gradient of `1e-9 * x`, computed in `dtype` under a loss scale."""
    x = torch.ones((), dtype=dtype, requires_grad=True)
    (x * 1e-9 * scale).backward()
    return float(x.grad.float() / scale)


def test_float16_gradients_underflow_without_a_scale() -> None:
    assert _gradient(torch.float16, 1.0) == 0.0
    assert _gradient(torch.float16, 2.0**15) == pytest.approx(1e-9, rel=1e-2)


def test_bfloat16_gradients_do_not() -> None:
    assert _gradient(torch.bfloat16, 1.0) == pytest.approx(1e-9, rel=1e-2)
    assert _gradient(torch.bfloat16, 1.0) == _gradient(torch.bfloat16, 2.0**15)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_step_is_the_same_with_a_scaler_and_with_one_that_is_off(enabled: bool) -> None:
    weight = torch.nn.Parameter(torch.ones(4))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", enabled=enabled)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = (weight * weight).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.detach().tolist() == [0.0] * 4
