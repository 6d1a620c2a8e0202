"""What torch and transformers make of a short name."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

UNKNOWN = ["bf16", "fp16", "fp32", "fp8", "torch.bfloat16", "bf16-mixed"]


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_short_name_is_no_attribute_of_torch(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'torch' has no attribute '{name}'"):
        getattr(torch, name)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "half", "float32", "float", "float64"])
def test_a_full_name_is_a_dtype(name: str) -> None:
    assert isinstance(getattr(torch, name), torch.dtype)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        vocab_size=32,
    )
    folder = tmp_path_factory.mktemp("checkpoint")
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("keyword", "error", "message"),
    [
        ("dtype", AttributeError, "module 'torch' has no attribute 'bf16'"),
        ("torch_dtype", ValueError, "a string representation of a valid `torch.dtype`"),
    ],
)
def test_a_model_of_transformers(
    checkpoint: Path, keyword: str, error: type[Exception], message: str
) -> None:
    transformers = pytest.importorskip("transformers")
    with pytest.raises(error, match=message):
        transformers.AutoModelForCausalLM.from_pretrained(checkpoint, **{keyword: "bf16"})
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint, **{keyword: "bfloat16"})
    assert model.dtype is torch.bfloat16


def test_a_model_made_from_a_config(checkpoint: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.from_pretrained(checkpoint)
    with pytest.raises(AttributeError, match="module 'torch' has no attribute 'bf16'"):
        transformers.AutoModelForCausalLM.from_config(config, dtype="bf16")
