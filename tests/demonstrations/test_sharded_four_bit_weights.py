"""What FSDP1 makes of weights that are stored as integers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")


class Packed(torch.nn.Module):
    """A layer with packed weights in the storage that bitsandbytes gives them."""

    def __init__(self, storage: torch.dtype) -> None:
        super().__init__()
        packed = torch.zeros(16, 8, dtype=torch.uint8).view(storage)
        self.weight = torch.nn.Parameter(packed, requires_grad=False)
        self.bias = torch.nn.Parameter(torch.zeros(16, dtype=torch.bfloat16), requires_grad=False)


@pytest.fixture
def group() -> Iterator[None]:
    import torch.distributed as dist

    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_integers_cannot_be_flattened() -> None:
    from torch.distributed.fsdp import FullyShardedDataParallel

    device = torch.device("cpu")
    with pytest.raises(ValueError, match="Cannot flatten integer dtype tensors"):
        FullyShardedDataParallel(Packed(torch.uint8), device_id=device)
    FullyShardedDataParallel(Packed(torch.bfloat16), device_id=device)


def test_the_storage_is_uint8_by_default() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BitsAndBytesConfig(load_in_4bit=True)
    assert config.bnb_4bit_quant_storage is torch.uint8
