"""What a dtype of torch equals."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "torch.bfloat16"])
def test_a_dtype_equals_no_text(name: str) -> None:
    dtype = getattr(torch, name.removeprefix("torch."))
    assert dtype != name
    assert dtype not in (name,)
    assert str(dtype) != name.removeprefix("torch.")
    assert str(dtype) == f"torch.{name.removeprefix('torch.')}"


def test_the_branch_for_float16_is_never_taken() -> None:
    def total(x: torch.Tensor, half: object) -> float:
        if x.dtype == half:
            x = x.float()
        return float(x.pow(2).sum())

    x = torch.full((4,), 200.0, dtype=torch.float16)
    assert total(x, "float16") == float("inf")
    assert total(x, torch.float16) == 160000.0


def test_numpy_does_equal_texts() -> None:
    np = pytest.importorskip("numpy")
    assert np.zeros(1, dtype=np.float16).dtype == "float16"
