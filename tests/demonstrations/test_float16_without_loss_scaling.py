"""A small gradient under float16 autocast, with and without loss scaling."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")


def gradient(dtype: object, *, scaled: bool) -> float:
    """The gradient of a weight of a linear layer whose loss is multiplied by 1e-9."""
    layer = torch.nn.Linear(4, 1, bias=False)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cpu", enabled=scaled)
    with torch.autocast("cpu", dtype=dtype):
        out = layer(torch.ones(1, 4))
    scaler.scale(out.float().sum() * 1e-9).backward()
    scaler.unscale_(optimizer)
    return float(layer.weight.grad[0, 0])


def test_the_gradient_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    alone = gradient(torch.float16, scaled=False)
    scaled = gradient(torch.float16, scaled=True)
    bfloat16 = gradient(torch.bfloat16, scaled=False)
    print(f"float16: {alone:.1e}; float16, scaled: {scaled:.1e}; bfloat16: {bfloat16:.1e}")
    assert alone == 0.0
    assert scaled == pytest.approx(1e-9, rel=1e-2)
    assert bfloat16 == pytest.approx(1e-9, rel=1e-2)
    assert "float16: 0.0e+00; float16, scaled: 1.0e-09" in capsys.readouterr().out


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_fsdp_loses_it_as_well(dtype: str, tmp_path: Path) -> None:
    """FSDP casts parameters and inputs; `reduce_dtype` comes after that."""
    from torch import distributed
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    start = f"file://{tmp_path / 'start'}"
    distributed.init_process_group("gloo", init_method=start, rank=0, world_size=1)
    try:
        layer = torch.nn.Linear(4, 1, bias=False)
        policy = MixedPrecisionPolicy(getattr(torch, dtype), reduce_dtype=torch.float32)
        fully_shard(layer, mesh=init_device_mesh("cpu", (1,)), mp_policy=policy)
        (layer(torch.ones(1, 4)).float().sum() * 1e-9).backward()
        gradient = float(layer.weight.grad.full_tensor()[0, 0])
    finally:
        distributed.destroy_process_group()
    assert gradient == (0.0 if dtype == "float16" else pytest.approx(1e-9, rel=1e-2))
