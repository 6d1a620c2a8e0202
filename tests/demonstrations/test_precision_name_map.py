"""What a name that stands for another dtype does."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def test_a_value_that_bfloat16_holds_overflows_in_float16() -> None:
    wrong = {"fp16": torch.float16, "bf16": torch.float16}
    right = {"fp16": torch.float16, "bf16": torch.bfloat16}
    value = torch.tensor(70000.0)
    assert value.to(wrong["bf16"]).isinf()
    assert value.to(right["bf16"]).isfinite()


def test_float16_keeps_what_bfloat16_rounds() -> None:
    wrong = {"fp16": torch.bfloat16, "bf16": torch.bfloat16}
    right = {"fp16": torch.float16, "bf16": torch.bfloat16}
    value = torch.tensor(1.0 + 2**-9)
    assert value.to(wrong["fp16"]) == 1.0
    assert value.to(right["fp16"]) == value
