"""Modules and inputs of two dtypes: what torch rejects, and that the fix runs."""

from __future__ import annotations

import pytest

from precision_lint.facts.dtypes._generated.kernels import TAKEN

torch = pytest.importorskip("torch")
nn = torch.nn

INPUTS = {
    "Linear": (lambda: nn.Linear(4, 4), (2, 4)),
    "Conv1d": (lambda: nn.Conv1d(2, 2, 1), (1, 2, 4)),
    "Conv2d": (lambda: nn.Conv2d(2, 2, 1), (1, 2, 4, 4)),
    "LSTM": (lambda: nn.LSTM(4, 4), (2, 1, 4)),
    "LayerNorm": (lambda: nn.LayerNorm(4), (2, 4)),
}


@pytest.mark.parametrize("name", INPUTS)
def test_a_layer_rejects_another_dtype_and_takes_its_own(name: str) -> None:
    make, shape = INPUTS[name]
    x = torch.ones(shape)
    for dtype in (torch.bfloat16, torch.float16):
        layer = make().to(dtype)
        with pytest.raises((RuntimeError, ValueError), match=r"dtype|type"):
            layer(x)
        layer(x.to(dtype))
    assert ("float32", "bfloat16") not in TAKEN[name]


def test_autocast_casts_for_a_layer() -> None:
    layer = nn.Linear(4, 4).to(torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.ones(2, 4)).dtype is torch.bfloat16


def test_a_norm_takes_float32_weights_beside_half_input() -> None:
    assert ("bfloat16", "float32") in TAKEN["LayerNorm"]
    nn.LayerNorm(4)(torch.ones(2, 4, dtype=torch.bfloat16))
