"""What GradScaler makes of closures."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def fitted(how: str) -> list[float]:
    """The largest gradient at each evaluation of a closure."""
    parameter = torch.nn.Parameter(torch.tensor([4.0]))
    optimizer = torch.optim.LBFGS([parameter], lr=0.1, max_iter=3)
    scaler = torch.amp.GradScaler("cpu")
    seen: list[float] = []

    def closure() -> object:
        optimizer.zero_grad()
        loss = parameter.square().sum()
        scaler.scale(loss).backward()
        seen.append(parameter.grad.abs().max().item())
        return loss

    closure()
    if how == "keyword":
        scaler.step(optimizer, closure=closure)
    elif how == "position":
        scaler.step(optimizer, closure)
    else:
        scaler.step(optimizer)
    return seen


def test_a_keyword_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        fitted("keyword")


def test_lbfgs_needs_a_closure() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'closure'"):
        fitted("none")


def test_gradients_of_a_closure_by_position_stay_scaled() -> None:
    assert min(fitted("position")) > 1000  # the gradient is 8 at most


def test_a_disabled_scaler_takes_closures() -> None:
    parameter = torch.nn.Parameter(torch.tensor([4.0]))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    parameter.grad = torch.ones(1)
    scaler.step(optimizer, closure=lambda: torch.zeros(1))
    assert parameter.item() == pytest.approx(3.9)
