"""Attention with operands of two dtypes: it raises, and the fix and autocast help."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.mark.parametrize("odd", range(3))
def test_one_operand_of_another_dtype_raises(odd: int) -> None:
    operands = [torch.ones(1, 4, 8, dtype=torch.bfloat16) for _ in range(3)]
    operands[odd] = operands[odd].float()
    with pytest.raises(RuntimeError, match="Expected query, key, and value to have the same dtype"):
        F.scaled_dot_product_attention(*operands)
    with torch.autocast("cpu", torch.bfloat16):
        F.scaled_dot_product_attention(*operands)
    value = operands[2]
    result = F.scaled_dot_product_attention(*(one.to(value.dtype) for one in operands))
    assert result.dtype is value.dtype
