"""A dtype that `forward` decides meets weights that whoever loads the model decides.

## What it does
Judges a run of each model with a `from_pretrained` that takes a dtype (subclasses of
`PreTrainedModel` of transformers, of `ModelMixin` of diffusers): the weights are loaded in
bfloat16, and `forward` is followed from there into the layers, norms, rotary embeddings and
attention functions that it calls. Reported is the first layer, product, attention or indexed write
that then gets a dtype which the code decides on one side (`.float()`, `softmax(…,
dtype=torch.float32)`, `x.half()`), and that of the weights on the other. The finding shows where
the fixed dtype comes from and which function returns it.

Both dtypes are certain: nothing is reported where a caller, a buffer, a setting or a branch may
decide otherwise, in an autocast region, under a condition about dtypes, in `try`, or for modules
that the class keeps in float32 (`_keep_in_fp32_modules`). The confidence is low where the library
loads in float32 by default and nothing in the project uses half precision, and where the file opens
autocast or trains with a Trainer: under autocast nothing raises.

## Why it hurts
`RuntimeError: mat1 and mat2 must have the same dtype, but got Float and BFloat16`, `RuntimeError:
expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16`, `RuntimeError: Expected
query, key, and value to have the same dtype, but got query.dtype: float key.dtype: c10::BFloat16
and value.dtype: c10::BFloat16 instead` (torch 2.13). In float32, and under autocast, the same model
runs, so the mistake shows only when somebody loads it in half precision. transformers 5 does
so whenever the checkpoint is in half precision.

## Example
```python
import torch
from torch import nn
from transformers import PreTrainedModel


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        x = x.to(torch.float32)
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Model(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(100, 8)
        self.norm = Norm(8)
        self.head = nn.Linear(8, 100)

    def forward(self, input_ids):
        return self.head(self.norm(self.embed(input_ids)))
```

## Use instead
```python
import torch
from torch import nn
from transformers import PreTrainedModel


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * x.to(dtype)


class Model(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(100, 8)
        self.norm = Norm(8)
        self.head = nn.Linear(8, 100)

    def forward(self, input_ids):
        return self.head(self.norm(self.embed(input_ids)))
```

## Fix safety
There is no fix. Whether the function that computes in float32 should cast its result back, or its
caller should, the code does not say.

## References
- Pitfalls D02, D10
- https://github.com/huggingface/transformers/issues/35332
- https://huggingface.co/docs/transformers/main_classes/model#transformers.PreTrainedModel.from_pretrained
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    BFLOAT16,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    may_train_under_autocast,
    meetings_in_half,
    quoted,
    text_of,
)

RULE = Rule(
    code="MP408",
    name="fixed-dtype-in-forward",
    summary="a dtype that `forward` decides meets weights that are loaded in another one",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("bf16",),
    triggers=(
        (b"PreTrainedModel", b"ModelMixin"),
        (b".float(", b"float32", b"torch.float", b".half(", b"float16"),
    ),
    pitfalls=("D02", "D10"),
    yields_to=("MP410",),
    preview=True,
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    meetings = meetings_in_half(file)
    is_autocast = bool(meetings) and may_train_under_autocast(file)
    for each in meetings:
        found, loaded = each.meeting, each.loaded
        enabled = file.bfloat16(loaded)
        origin = found.tensor.origin
        confidence = Confidence.MEDIUM if each.is_kept else file.chosen_by_caller()
        if is_autocast:
            confidence = Confidence.LOW
        fixed = text_of(found.fixed, file, "one side")
        follows = (
            "the weights have"
            if found.follows is None
            else f"{text_of(found.follows, file, 'another')} has"
        )
        yield file.finding(
            RULE,
            found.call.span,
            f"`{found.operator}` needs one dtype, but {fixed} is always {found.dtype} and "
            f"{follows} the dtype in which the model is loaded",
            confidence=confidence,
            why=f"{quoted(found.error(BFLOAT16))}, if the model is loaded in bfloat16. Cast one "
            "side to the dtype of the other.",
            related=[
                *([] if origin is None else [origin.related]),
                *([] if origin is None else [site.related for site in origin.route]),
                loaded.related,
                *([] if enabled is None else [enabled]),
            ],
        )
