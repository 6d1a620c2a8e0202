"""What transformers takes for the compute dtype of 4-bit weights."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def test_it_is_float32_by_default() -> None:
    config = transformers.BitsAndBytesConfig(load_in_4bit=True)
    assert config.bnb_4bit_compute_dtype is torch.float32


def test_it_is_what_is_given() -> None:
    config = transformers.BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16
    )
    assert config.bnb_4bit_compute_dtype is torch.bfloat16
