"""grad_scaler: float16 only."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")

from precision_lint.runtime import grad_scaler  # noqa: E402


@pytest.mark.parametrize(
    ("dtype", "enabled"),
    [
        (torch.float16, True),
        ("fp16", True),
        ("torch.half", True),
        (torch.bfloat16, False),
        ("bf16", False),
        (torch.float32, False),
    ],
    ids=str,
)
def test_enabled_for_float16_only(dtype, enabled):
    assert grad_scaler(dtype, "cpu").is_enabled() is enabled


def test_the_callers_switch_can_only_turn_it_off():
    assert not grad_scaler(torch.float16, "cpu", enabled=False).is_enabled()
    assert not grad_scaler(torch.bfloat16, "cpu", enabled=True).is_enabled()


def test_options_reach_torch():
    scaler = grad_scaler("fp16", "cpu", init_scale=8.0, growth_interval=3)
    assert (scaler.get_scale(), scaler.get_growth_interval()) == (8.0, 3)
    with pytest.raises(TypeError, match="unexpected keyword"):
        grad_scaler("fp16", "cpu", init_scael=8.0)


@pytest.mark.parametrize("device", [torch.device("cpu"), "cpu:0", torch.device("cpu", 0)])
def test_devices(device):
    assert grad_scaler("fp16", device)._device == "cpu"


def test_bfloat16_is_silent_without_a_gpu():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not grad_scaler(torch.bfloat16).is_enabled()


def test_unknown_dtype():
    with pytest.raises(ValueError, match="did you mean"):
        grad_scaler("bflot16", "cpu")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_the_training_loop_is_the_same_with_both(dtype):
    weight = torch.nn.Parameter(torch.ones(4))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = grad_scaler(dtype, "cpu")
    with torch.autocast("cpu", dtype=dtype):
        loss = (weight * 2).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_([weight], 1e9)
    scaler.step(optimizer)
    scaler.update()
    torch.testing.assert_close(weight.detach(), torch.zeros(4))
