"""Query, key and value of attention in two dtypes.

## What it does
Finds `F.scaled_dot_product_attention` whose query, key and value certainly have different floating
dtypes: rotary embeddings or norms in float32 that are applied to query and key alone, a cache that
is kept in float32. Nothing is reported if a dtype is not known, in an autocast region, which casts
all three, and where a framework or another file may open one.

## Why it hurts
`RuntimeError: Expected query, key, and value to have the same dtype, but got query.dtype: float
key.dtype: float and value.dtype: c10::BFloat16 instead.` (torch 2.13). Under autocast the same code
works, so it fails in evaluation, or when a model is loaded in half precision.

## Example
```python
import torch
import torch.nn.functional as F


def attend(q, k, v):
    q, k, v = q.bfloat16(), k.bfloat16(), v.bfloat16()
    q, k = F.normalize(q.float(), dim=-1), F.normalize(k.float(), dim=-1)
    return F.scaled_dot_product_attention(q, k, v)
```

## Use instead
```python
import torch
import torch.nn.functional as F


def attend(q, k, v):
    q, k, v = q.bfloat16(), k.bfloat16(), v.bfloat16()
    q, k = F.normalize(q.float(), dim=-1), F.normalize(k.float(), dim=-1)
    return F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v)
```

## Fix safety
Query and key are cast to the dtype of the value. Safe, because the call can only raise as it is
written. No fix if the value is not a name or an attribute.

## References
- Pitfall D04
- https://github.com/nari-labs/dia/issues/83
- https://github.com/huggingface/diffusers/issues/6727
- https://github.com/huggingface/accelerate/issues/2182
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    Applicability,
    Call,
    Disagreement,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Tensor,
    decides_dtypes_around,
    disagreement_findings,
    may_disagree,
    regex,
)

RULE = Rule(
    code="MP405",
    name="attention-operands-dtype",
    summary="query, key and value of attention in two dtypes",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"torch",), (b"scaled_dot_product_attention",)),
    calls=frozenset({"scaled_dot_product_attention"}),
    pitfalls=("D04",),
    yields_to=("MP410",),
    preview=True,
)

_NAME = regex(r"[A-Za-z_][\w.]*")


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return decides_dtypes_around(node, file)


def follows(call: Call) -> bool:
    return may_disagree(call)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    yield from disagreement_findings(
        call,
        file,
        RULE,
        "attention needs one dtype, but {first} is {one} and {second} is {other}",
        "Cast query and key to the dtype of the value.",
        lambda found: _fix(found, call, file),
        is_cast_by_autocast=True,
    )


def _fix(found: Disagreement, call: Call, file: PythonFile) -> Fix | None:
    value = call.argument(2, "value")
    if value is None or not found.is_proved or not isinstance(value.value, Tensor):
        return None
    text = file.text[value.span]
    if not _NAME.fullmatch(text):
        return None
    edits: list[Edit] = []
    for position, keyword in ((0, "query"), (1, "key")):
        given = call.argument(position, keyword)
        if given is None or not isinstance(given.value, Tensor):
            return None
        if given.value.dtypes != value.value.dtypes:
            edits += calls.append_method(file, given.span, f".to({text}.dtype)")
    return Fix(Applicability.SAFE, f"Cast to `{text}.dtype`", tuple(edits))
