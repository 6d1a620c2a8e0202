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
