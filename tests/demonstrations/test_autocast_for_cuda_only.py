"""What a region for CUDA does for tensors of another device: nothing."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="the host stands for another device"),
]


def product(dtype: object) -> object:
    return torch.ones(2, 2, dtype=dtype) @ torch.ones(2, 2, dtype=dtype)


def test_an_island_for_cuda_is_none() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.autocast("cuda", enabled=False):
            assert product(torch.float32).dtype is torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert product(torch.float32).dtype is torch.float32


def test_a_float32_region_for_cuda_casts_nothing() -> None:
    layer = torch.nn.Linear(2, 2).bfloat16()
    with torch.autocast("cuda", dtype=torch.float32):
        assert product(torch.bfloat16).dtype is torch.bfloat16
        with pytest.raises(RuntimeError, match="must have the same dtype"):
            layer(torch.ones(1, 2))


def test_a_half_region_for_cuda_casts_nothing() -> None:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert product(torch.float32).dtype is torch.float32


def test_torch_warns_without_cuda() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"):
        torch.autocast("cuda", dtype=torch.bfloat16)
