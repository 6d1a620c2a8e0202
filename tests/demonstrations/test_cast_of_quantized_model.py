"""What transformers says to casts of a model that is marked as quantized."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def quantized() -> Any:
    """A model with the marks that a load with bitsandbytes leaves; the weights need a GPU."""
    from transformers.utils.quantization_config import QuantizationMethod

    config = transformers.BertConfig(
        vocab_size=8,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
    )
    model = transformers.BertModel(config)
    model.is_quantized = True
    model.quantization_method = QuantizationMethod.BITS_AND_BYTES
    return model


@pytest.mark.parametrize("method", ["half", "float"])
def test_methods_are_refused(method: str) -> None:
    with pytest.raises(ValueError, match=rf"`\.{method}\(\)` is not supported for quantized model"):
        getattr(quantized(), method)()


def test_dtypes_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot cast a bitsandbytes model in a new `dtype`"):
        quantized().to(torch.bfloat16)
    with pytest.raises(ValueError, match="cannot cast a bitsandbytes model in a new `dtype`"):
        quantized().to("cpu", dtype=torch.float16)


def test_devices_are_taken() -> None:
    quantized().to("cpu")
