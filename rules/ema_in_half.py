"""An exponential moving average of weights in half precision.

## What it does
Finds averages of weights that are bfloat16 or float16: `EMAModel` of diffusers, `AveragedModel` of
torch, `ModelEma` of timm, and copies by `copy.deepcopy` that are called `ema`, or that a class of
such a name makes, in a file with `lerp_` or `mul_`. In a file without such names, the step of an
average is found in a loop over parameters, or over an attribute that the class makes of them:
`slow.mul_(m).add_(fast, alpha=1 - m)`, or `slow.lerp_(fast, 1 - m)`, of what the loop gives or of
what a mapping has under its key (`self.shadow[name]`), unless `m` is a number below 0.9, or the
function merges models once. The dtype of the model must be known, here or where a
caller gives the model: weights that are loaded in it, or a cast.
Not reported: models in float32, copies that are cast to float32, and other copies.

## Why it hurts
There is no error. A step with a decay of 0.999 changes an average by a thousandth of the
difference, which is less than the last digit of a bfloat16 number: 1,000 steps from 1.0 towards 2.0
leave 1.0 (torch 2.13; so does float16 with 0.9999). The average never leaves the weights that it
started with.

## Example
```python
model = AutoModel.from_pretrained(name, dtype=torch.bfloat16)
ema = copy.deepcopy(model)
for average, weight in zip(ema.parameters(), model.parameters()):
    average.data.mul_(0.999).add_(weight.data, alpha=0.001)
```

## Use instead
```python
model = AutoModel.from_pretrained(name, dtype=torch.bfloat16)
ema = copy.deepcopy(model).float()
for average, weight in zip(ema.parameters(), model.parameters()):
    average.data.mul_(0.999).add_(weight.data.float(), alpha=0.001)
```

## Fix safety
There is no fix: what updates and what reads the average may need a cast, too.

## References
- Pitfall E07
- https://github.com/d8ahazard/sd_dreambooth_extension/pull/1417
- https://github.com/konpatp/diffae/issues/16
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    AVERAGING,
    COPIES,
    Call,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    averaged_copy,
    averaged_in_place,
    callee_name,
    may_be_average,
    may_be_averaged_copy,
    precision_of,
)

RULE = Rule(
    code="MP307",
    name="ema-in-half",
    summary="an average of weights in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=(
        (b"torch",),
        (b"EMAModel(", b"AveragedModel(", b"ModelEma", b"deepcopy(", b".mul_(", b".lerp_("),
        (b"ema", b"EMA", b"Ema", b"Averaged", b"parameters(", b"state_dict("),
    ),
    calls=COPIES | AVERAGING,
    pitfalls=("E07",),
)


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    if isinstance(node, ast.Call) and callee_name(node) in AVERAGING:
        return may_be_average(node, file)
    return may_be_averaged_copy(node, file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    is_copy = call.name in COPIES
    found = averaged_copy(call, file) if is_copy else averaged_in_place(call, file)
    if found is not None:
        yield file.finding(
            RULE,
            call.span,
            f"the average of these weights {'is' if found.is_certain else 'can be'} {found.dtype}",
            confidence=Confidence.MEDIUM,
            why="With a decay of 0.999, most steps are smaller than the last digit of "
            f"{found.dtype}, and the average does not move: keep it in float32.",
            related=found.related,
            precisions=tuple(filter(None, [precision_of(found.dtype)])),
        )
