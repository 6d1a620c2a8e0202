"""What torch makes of the name of a dtype."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

REFUSED: dict[str, Callable[[object], object]] = {
    "zeros": lambda dtype: torch.zeros(2, dtype=dtype),
    "arange": lambda dtype: torch.arange(2, dtype=dtype),
    "zeros_like": lambda dtype: torch.zeros_like(torch.ones(2), dtype=dtype),
    "tensor": lambda dtype: torch.tensor([1.0], dtype=dtype),
    "softmax": lambda dtype: torch.nn.functional.softmax(torch.ones(2), dim=0, dtype=dtype),
    "Linear": lambda dtype: torch.nn.Linear(2, 2, dtype=dtype).weight,
    "finfo": lambda dtype: torch.finfo(dtype),
    "to, by name": lambda dtype: torch.zeros(2).to(dtype=dtype),
    "to, after a device": lambda dtype: torch.zeros(2).to("cpu", dtype),
    "to, of a module": lambda dtype: torch.nn.Linear(2, 2).to("cpu", dtype),
    "set_default_dtype": lambda dtype: torch.set_default_dtype(dtype),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_a_name_is_refused_where_a_dtype_is_taken(call: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        call("bfloat16")
    try:
        call(torch.bfloat16)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", ["float16", "bf16", "fp32", "torch.bfloat16"])
@pytest.mark.parametrize("make", [lambda: torch.zeros(2), lambda: torch.nn.Linear(2, 2)])
def test_a_name_is_read_as_a_device(name: str, make: Callable[[], torch.Tensor]) -> None:
    with pytest.raises(RuntimeError, match=f"Invalid device string: '{name}'"):
        make().to(name)
    assert make().to(torch.bfloat16) is not None


def test_a_name_without_digits_is_read_as_a_device_type() -> None:
    with pytest.raises(RuntimeError, match="device type at start of device string: half"):
        torch.zeros(2).to("half")
