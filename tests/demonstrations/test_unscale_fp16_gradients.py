"""A scaler refuses the gradients of float16 weights, also those that were cast while it trained."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

_MESSAGE = "Attempting to unscale FP16 gradients"


def _step(model, optimizer, scaler) -> None:  # type: ignore[no-untyped-def]
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(torch.ones(1, 4)).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def test_a_float16_model_raises_at_its_first_step() -> None:
    model = torch.nn.Linear(4, 4).half()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ValueError, match=_MESSAGE):
        _step(model, optimizer, torch.amp.GradScaler("cpu", init_scale=8.0))


def test_a_cast_for_validation_breaks_the_next_step() -> None:
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    _step(model, optimizer, scaler)
    pipeline = torch.nn.ModuleDict({"unet": model})
    pipeline.to("cpu")  # without a dtype: training goes on
    _step(model, optimizer, scaler)
    pipeline.to("cpu", dtype=torch.float16)
    with pytest.raises(ValueError, match=_MESSAGE):
        _step(model, optimizer, scaler)


def test_trainable_parameters_in_float32_train() -> None:
    model = torch.nn.Linear(4, 4).half()
    for parameter in model.parameters():
        parameter.data = parameter.to(torch.float32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.weight.detach().clone()
    _step(model, optimizer, torch.amp.GradScaler("cpu", init_scale=8.0))
    assert not torch.equal(before, model.weight)
