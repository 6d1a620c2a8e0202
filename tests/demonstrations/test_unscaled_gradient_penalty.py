"""A penalty on gradients that autograd.grad took of a scaled loss."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def penalties() -> tuple[float, float]:
    """The squared gradient of 2 w, of the scaled loss: as it is, and divided by the scale."""
    weight = torch.ones((), requires_grad=True)
    scaler = torch.amp.GradScaler("cpu")
    loss = 2 * weight
    (scaled,) = torch.autograd.grad(scaler.scale(loss), weight, create_graph=True)
    return scaled.square().item(), (scaled / scaler.get_scale()).square().item()


def test_the_scale_stays_in_the_penalty() -> None:
    wrong, right = penalties()
    print("penalty of a gradient of 2:", wrong, "divided by the scale:", right)
    assert wrong == 17179869184.0
    assert right == 4.0


def test_without_a_scale_a_small_float16_gradient_vanishes() -> None:
    scaler = torch.amp.GradScaler("cpu")
    found = []
    for scale in (1.0, scaler.scale(torch.ones(())).item()):
        x = torch.ones(2, dtype=torch.float16, requires_grad=True)
        loss = (x.float() * 1e-9).sum() * scale
        (grad,) = torch.autograd.grad(loss, x)
        found.append((grad.float() / scale)[0].item())
    assert found[0] == 0
    assert found[1] == pytest.approx(1e-9, rel=0.01)
