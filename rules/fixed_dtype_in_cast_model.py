"""A dtype that `forward` decides meets the weights of a model that a program casts.

## What it does
Judges a run of each model of the project that a program casts to bfloat16 or float16 and calls
(`model.to(dtype)`, `model.half()`): `forward` is followed from there into the modules that the
model holds, whichever files they are in. Reported is the first layer, product, attention or indexed
write that then gets a dtype which the code decides on one side (sines of positions, `.float()`, the
weights of a router), and that of the model's weights on the other. The finding shows where both
dtypes come from, with the option or file that chooses the one of the model, and the calls that lead
to the place.

What the code decides is certain: nothing is reported where a caller, a buffer, a setting or a
branch may decide otherwise, under a condition that this run does not decide, or in `try`. Nothing
is reported either if the program opens autocast, uses a Trainer, a Lightning module, an Accelerator
or DeepSpeed, casts the model or a part of it back to float32, visits its layers, or never calls it.
What a program gives to its own model in the same file is MP410's subject, models with a
`from_pretrained` are MP408's.

## Why it hurts
`RuntimeError: mat1 and mat2 must have the same dtype, but got Float and BFloat16`, `RuntimeError:
index_add_(): self (BFloat16) and source (Float) must have the same scalar type` (torch 2.13). In
float32, and under autocast, the same model runs: it is the program for inference that stops, or the
training that the other option starts.

## Example
```python
import torch
from torch import nn


class StepEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.half = width // 2
        self.project = nn.Linear(width, width)

    def forward(self, step):
        frequencies = torch.logspace(0, -4, self.half, dtype=torch.float32)
        angles = step.float()[:, None] * frequencies
        return self.project(torch.cat([angles.sin(), angles.cos()], dim=-1))


def sample(steps, dtype=torch.bfloat16):
    model = StepEmbedding(32).to(dtype)
    return [model(torch.full((2,), step)) for step in range(steps)]
```

## Use instead
```python
import torch
from torch import nn


class StepEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.half = width // 2
        self.project = nn.Linear(width, width)

    def forward(self, step):
        frequencies = torch.logspace(0, -4, self.half, dtype=torch.float32)
        angles = step.float()[:, None] * frequencies
        features = torch.cat([angles.sin(), angles.cos()], dim=-1)
        return self.project(features.to(self.project.weight.dtype))


def sample(steps, dtype=torch.bfloat16):
    model = StepEmbedding(32).to(dtype)
    return [model(torch.full((2,), step)) for step in range(steps)]
```

## Fix safety
There is no fix. Whether the function that computes in float32 should cast its result, or its caller
should, the code does not say.

## References
- Pitfalls D02, D10
- https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    meetings_in_cast_models,
    precision_of,
    quoted,
    text_of,
)

RULE = Rule(
    code="MP412",
    name="fixed-dtype-in-cast-model",
    summary="a dtype that `forward` decides meets weights that a program casts to another one",
    severity=Severity.ERROR,
    since="0.1.0",
    preview=True,
    precisions=("fp16", "bf16"),
    triggers=((b"torch",), (b"def forward(",)),
    pitfalls=("D02", "D10"),
    yields_to=("MP408", "MP410"),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for each in meetings_in_cast_models(file):
        found, origin = each.meeting, each.meeting.tensor.origin
        fixed = text_of(found.fixed, file, "one side")
        follows = (
            "the weights are"
            if found.follows is None
            else f"{text_of(found.follows, file, 'another side')} is"
        )
        places = dict.fromkeys(
            (
                *([] if origin is None else [origin, *origin.route]),
                each.weights,
                *each.weights.route,
                *found.call.way,
            )
        )
        yield file.finding(
            RULE,
            found.call.span,
            f"`{found.operator}` needs one dtype, but {fixed} is always {found.dtype}, and "
            f"{follows} {each.dtype} in a program that casts the model",
            confidence=Confidence.MEDIUM,
            why=f"{quoted(found.error(each.dtype))}. Cast one side to the dtype of the other.",
            related=[place.related for place in places],
            precisions=tuple(filter(None, [precision_of(each.dtype)])),
        )
