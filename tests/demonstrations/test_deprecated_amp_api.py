"""What a migration of `autocast` by position does: it raises, or it computes something else."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", minversion="2.4")

pytestmark = pytest.mark.filterwarnings("ignore")


def product_of_weights(region: object) -> object:
    weight = torch.full((4, 4), 0.1)
    with region:  # type: ignore[attr-defined]
        return weight @ weight


def test_the_old_first_argument_is_the_new_dtype() -> None:
    old = product_of_weights(torch.cpu.amp.autocast(True, torch.bfloat16))
    new = product_of_weights(torch.amp.autocast("cpu", enabled=True, dtype=torch.bfloat16))
    assert old.dtype == new.dtype == torch.bfloat16
    assert torch.equal(old, new)
    with pytest.raises(TypeError, match=r"must be torch\.dtype, not bool"):
        product_of_weights(torch.amp.autocast("cpu", True, torch.bfloat16))


def test_the_new_default_is_the_dtype_around() -> None:
    with torch.autocast("cpu", dtype=torch.float16):
        old = product_of_weights(torch.cpu.amp.autocast())
        short = product_of_weights(torch.amp.autocast("cpu"))
        new = product_of_weights(torch.amp.autocast("cpu", dtype=torch.bfloat16))
    assert old.dtype == new.dtype == torch.bfloat16
    assert torch.equal(old, new)
    assert short.dtype == torch.float16
    assert old[0, 0].item() == 0.0400390625
    assert short[0, 0].item() != old[0, 0].item()


def test_the_old_scaler_takes_no_device() -> None:
    old = torch.cpu.amp.GradScaler(1024.0)
    new = torch.amp.GradScaler("cpu", 1024.0)
    assert old.state_dict() == new.state_dict()
    assert torch.amp.GradScaler(1024.0)._device == 1024.0  # nobody checks it
    assert torch.amp.GradScaler(1024.0).get_scale() == 65536.0
