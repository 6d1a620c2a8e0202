"""Which precision arguments transformers and accelerate no longer take."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")


@pytest.mark.parametrize("name", ["half_precision_backend", "fp16_backend", "fp16_opt_level"])
def test_arguments_of_the_trainer(name: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", minversion="5.0")
    for callee in (transformers.TrainingArguments, transformers.Seq2SeqTrainingArguments):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            callee(str(tmp_path), use_cpu=True, **{name: "auto"})
        callee(str(tmp_path), use_cpu=True)


def test_the_argument_of_accelerate() -> None:
    accelerate = pytest.importorskip("accelerate", minversion="0.16")
    with pytest.raises(TypeError, match="unexpected keyword argument 'fp16'"):
        accelerate.Accelerator(fp16=True)


@pytest.mark.parametrize("name", ["load_in_4bit", "load_in_8bit"])
@pytest.mark.parametrize("value", [True, False])
def test_arguments_of_a_load(name: str, value: bool, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", minversion="5.0")
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "vocab_size": 8}
    config = transformers.LlamaConfig(num_attention_heads=2, num_key_value_heads=2, **sizes)
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path)
    for loader in (transformers.LlamaForCausalLM, transformers.AutoModelForCausalLM):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            loader.from_pretrained(tmp_path, **{name: value})
        loader.from_pretrained(tmp_path)
