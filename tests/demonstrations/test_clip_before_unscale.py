"""What torch clips after `accelerator.backward` in float16 is scaled; the accelerator unscales it.

A GPU is needed for `mixed_precision="fp16"`, so the accelerator is given its scaler by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
accelerate = pytest.importorskip("accelerate")


def _update(clip: Callable[[Any, Any], Any]) -> float:
    """The norm of one update of gradients of norm 0.2, which a threshold of 1.0 leaves alone."""
    accelerate.state.AcceleratorState._reset_state(True)
    accelerator = accelerate.Accelerator(cpu=True)
    accelerator.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    accelerator.native_amp, accelerator.state._mixed_precision = True, "fp16"
    model = torch.nn.Linear(4, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model, optimizer = accelerator.prepare(model, optimizer)
    before = model.weight.detach().clone()
    accelerator.backward(model(torch.full((1, 4), 0.1)).sum())
    clip(accelerator, model.parameters())
    optimizer.step()
    accelerate.state.AcceleratorState._reset_state(True)
    return float((model.weight.detach() - before).norm())


def test_torch_clips_scaled_gradients() -> None:
    plain = _update(lambda _, weights: torch.nn.utils.clip_grad_norm_(weights, 1.0))
    assert plain == pytest.approx(1 / 1024, rel=0.01)
    unscaled = _update(lambda accelerator, weights: accelerator.clip_grad_norm_(weights, 1.0))
    assert unscaled == pytest.approx(0.2, rel=0.01)
