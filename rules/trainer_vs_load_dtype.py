"""A model that is loaded in a dtype that its trainer or its attention does not suit.

## What it does
Finds, in one program:

- a `Trainer` of transformers or TRL with `fp16=True` for a model whose weights are bfloat16, and
  one with `bf16=True` for float16 weights;
- `attn_implementation="flash_attention_2"` for weights in float32: with `dtype=torch.float32`, or
  without a dtype where transformers is pinned below 5, which then loads float32.

The weights and the arguments must be known: `from_pretrained(…, dtype=torch.bfloat16)`, a cast, and
literals in the call that makes the arguments. Not reported: LoRA, PEFT, quantization and frozen
weights; DeepSpeed and FSDP, which scale by themselves; FlashAttention in a file that names autocast
or half precision. float16 weights with `fp16=True` are a finding of `unscale-fp16-gradients`,
settings in files one of `weights-precision-conflict`.

## Why it hurts
- bfloat16 weights and `fp16=True`: `RuntimeError: "_amp_foreach_non_finite_check_and_unscale_cuda"
  not implemented for 'BFloat16'` at the first step, because the scaler gets bfloat16 gradients.
- float16 weights and `bf16=True`: no error. Nothing scales the loss, and gradients below 6e-8 are 0
  in float16 weights.
- FlashAttention in float32: `RuntimeError: FlashAttention only support fp16 and bf16 data type`,
  after a warning of transformers when it loads the model.

## Example
```python
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16)
trainer = Trainer(model=model, args=TrainingArguments("out", fp16=True), train_dataset=data)
```

## Use instead
```python
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
trainer = Trainer(model=model, args=TrainingArguments("out", bf16=True), train_dataset=data)
```

## Fix safety
There is no fix: either of the two can be the one that is meant.

## References
- Pitfalls I02, D05
- https://github.com/huggingface/trl/issues/4901
- https://github.com/unslothai/unsloth/issues/1184
- https://github.com/huggingface/transformers/issues/28052
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    LOADING,
    Call,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    load_dtypes,
    precision_of,
)

RULE = Rule(
    code="MP605",
    name="trainer-vs-load-dtype",
    summary="a model is loaded in a dtype that does not suit its trainer or its attention",
    severity=Severity.ERROR,
    since="0.1.0",
    triggers=(
        (b"transformers",),
        (b"from_pretrained(",),
        (b"fp16=", b"bf16=", b'"flash_attention_', b"'flash_attention_"),
    ),
    calls=LOADING,
    intraprocedural=frozenset({"from_pretrained", "train"}),
    pitfalls=("D05", "I02"),
)

_WHY = {
    "scaled": '`RuntimeError: "_amp_foreach_non_finite_check_and_unscale_cuda" not implemented for '
    "'BFloat16'` at the first step on CUDA.",
    "not scaled": "Nothing scales the loss: gradients of float16 weights below 6e-8 become 0.",
    "flash": "`RuntimeError: FlashAttention only support fp16 and bf16 data type`",
}


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="from_pretrained"), keywords=keywords):
            return any(each.arg in {"attn_implementation", None} for each in keywords)
    return True


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    calls = [each for each in call.module if each.name in RULE.calls]
    if call is not calls[0]:
        return  # the calls are judged together
    for found in load_dtypes(calls, file):
        if found.form == "flash":
            dtype = found.dtype or "float32 (the default of transformers before 5)"
            message = (
                f"the weights are loaded in {dtype}, but `{found.setting}` needs 16-bit weights"
            )
        else:
            message = f"`{found.setting}` trains a model whose weights are {found.dtype}"
        origin = [] if found.origin is None else [found.origin.related]
        yield file.finding(
            RULE,
            found.span,
            message,
            confidence=Confidence.MEDIUM,
            severity=Severity.WARNING if found.form == "not scaled" else Severity.ERROR,
            why=_WHY[found.form],
            related=[*origin, found.other],
            precisions=tuple(filter(None, [precision_of(found.dtype)])),
        )
