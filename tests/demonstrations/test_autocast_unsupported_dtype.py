"""What autocast makes of a dtype that it cannot take."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")


def product_dtype(**arguments: object) -> object:
    with torch.autocast("cpu", **arguments):
        return (torch.ones(2, 2) @ torch.ones(2, 2)).dtype


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_a_wide_dtype_turns_the_region_off(name: str) -> None:
    dtype = getattr(torch, name)
    with pytest.warns(UserWarning, match="Disabling autocast"):
        assert product_dtype(dtype=dtype) is torch.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert product_dtype(dtype=dtype, enabled=False) is torch.float32


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_a_half_dtype_does_not(name: str) -> None:
    dtype = getattr(torch, name)
    assert product_dtype(dtype=dtype) is dtype


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("dtype", ["bfloat16", True])
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_dtype_raises_where_the_region_is_entered(device: str, dtype: object) -> None:
    region = torch.autocast(device, dtype)
    with pytest.raises(TypeError, match=r"'dtype' \(position 2\) must be torch.dtype"), region:
        pass


def test_a_dtype_in_the_place_of_enabled_raises() -> None:
    with pytest.raises(TypeError, match=r"'enabled' \(position 2\) must be bool"):
        product_dtype(enabled=torch.bfloat16)


@pytest.mark.filterwarnings("ignore")
def test_a_region_for_float32_leaves_bfloat16_on_the_cpu() -> None:
    half = torch.ones(2, 2, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.autocast("cpu", dtype=torch.float32):
            assert (half @ half).dtype is torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert (half.float() @ half.float()).dtype is torch.float32
