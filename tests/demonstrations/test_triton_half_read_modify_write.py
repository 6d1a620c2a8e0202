"""A gradient that is corrected in a half-precision buffer keeps the rounding of what was there."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def test_the_gradient_of_the_true_class() -> None:
    probability = 0.99
    stored = torch.tensor(probability).to(torch.bfloat16)
    wrong = float((stored.float() - 1.0).to(torch.bfloat16))
    right = float((torch.tensor(probability) - 1.0).to(torch.bfloat16))
    print("corrected in the buffer:", wrong, "before it is stored:", right)
    assert wrong == -0.01171875
    assert right == pytest.approx(-0.01, rel=2**-8)
    assert abs(wrong / -0.01 - 1) > 0.17


def test_what_is_collected_in_a_buffer_stops_growing() -> None:
    buffer, total = torch.zeros((), dtype=torch.bfloat16), 0.0
    for _ in range(1000):
        total += 1.0
        buffer = (buffer.float() + 1.0).to(torch.bfloat16)
    assert float(buffer) == 256.0
    assert total == 1000.0
