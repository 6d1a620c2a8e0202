"""What a region made in half precision does not fit the float32 weights of an island in it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def in_island(device: str, *, upcast: bool) -> object:
    """A layer in an island, behind a layer in the region around it."""
    encoder, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = encoder(torch.ones(1, 4))
        with torch.autocast(device, enabled=False):
            return head(hidden.float() if upcast else hidden)


def test_the_dtypes_do_not_match() -> None:
    with pytest.raises(RuntimeError, match="must have the same dtype"):
        in_island("cpu", upcast=False)


def test_a_cast_makes_them_match() -> None:
    assert in_island("cpu", upcast=True).dtype is torch.float32


def test_an_island_for_another_device_is_none() -> None:
    assert in_island("cuda", upcast=False).dtype is torch.bfloat16
