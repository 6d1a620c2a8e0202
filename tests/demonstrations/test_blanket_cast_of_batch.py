"""What a cast of every tensor of a batch does to token ids."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def batch() -> dict[str, torch.Tensor]:
    return {"input_ids": torch.tensor([[50257]]), "pixel_values": torch.randn(1, 3)}


@pytest.mark.parametrize(
    ("dtype", "found"), [(torch.float16, "Half"), (torch.bfloat16, "BFloat16")]
)
def test_an_embedding_refuses_floating_ids(dtype: torch.dtype, found: str) -> None:
    embedding = torch.nn.Embedding(50300, 2)
    swept = {k: v.to(dtype) for k, v in batch().items()}
    with pytest.raises(RuntimeError, match=f"Expected tensor for argument #1 'indices'.*{found}"):
        embedding(swept["input_ids"])
    spared = {k: v.to("cpu", dtype if v.is_floating_point() else None) for k, v in batch().items()}
    assert embedding(spared["input_ids"]).shape == (1, 1, 2)
    assert spared["pixel_values"].dtype is dtype


@pytest.mark.parametrize(("dtype", "other"), [(torch.bfloat16, 50176), (torch.float16, 50272)])
def test_ids_that_are_cast_back_are_other_ids(dtype: torch.dtype, other: int) -> None:
    assert batch()["input_ids"].to(dtype).long().item() == other


def test_a_loss_refuses_floating_labels() -> None:
    labels = torch.tensor([1]).half()
    with pytest.raises(
        RuntimeError, match="expected target dtype to be Long or Byte, but got Half"
    ):
        torch.nn.functional.cross_entropy(torch.randn(1, 3), labels)
