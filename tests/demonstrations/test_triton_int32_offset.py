"""A row times a stride wraps around in int32, as Triton multiplies them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def test_the_last_row_of_large_logits() -> None:
    row, stride = 16383, 151936
    wrong = torch.tensor(row, dtype=torch.int32) * torch.tensor(stride, dtype=torch.int32)
    right = torch.tensor(row, dtype=torch.int32).to(torch.int64) * stride
    late = wrong.to(torch.int64)
    print("int32:", int(wrong), "int64:", int(right))
    assert int(right) == 2489167488
    assert int(wrong) == int(right) - 2**32 == -1805799808
    assert int(late) == int(wrong)
