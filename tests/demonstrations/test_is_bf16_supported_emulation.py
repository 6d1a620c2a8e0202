"""What `torch.cuda.is_bf16_supported` says of a GPU before Ampere, by what the driver answers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(("major", "is_native"), [(7, False), (8, True)])
def test_emulation_counts_unless_it_is_left_out(
    monkeypatch: pytest.MonkeyPatch, major: int, is_native: bool
) -> None:
    cuda = torch.cuda
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "current_device", lambda: 0)
    monkeypatch.setattr(
        cuda, "get_device_properties", lambda _: SimpleNamespace(major=major), raising=True
    )
    monkeypatch.setattr(cuda, "_check_bf16_tensor_supported", lambda _: True)
    assert cuda.is_bf16_supported() is True
    assert cuda.is_bf16_supported(including_emulation=False) is is_native
