"""A running total in half precision.

## What it does
Finds a tensor of one number that is made in bfloat16 or float16, by `torch.zeros((), dtype=…)`,
`torch.zeros(1, dtype=…)` or `torch.tensor(0.0, dtype=…)`, and to which a loop adds. The dtype must
be known: a literal, or a setting with its value. Not reported: totals in float32, Python numbers,
tensors of more numbers, to which mostly a few terms are added, and `total = total + loss` of two
tensors, which is in the wider dtype of both.

## Why it hurts
There is no error. A total stops where its next step is larger than twice the addend: with additions
of 1, bfloat16 stops at 256 and float16 at 2048 (torch 2.13). A mean loss over 1,000 batches that
should be 2.3 comes out as 1.02. In-place addition keeps the dtype of the total, whatever is added.

## Example
```python
total = torch.zeros((), device=device, dtype=torch.bfloat16)
for batch in loader:
    total += model(**batch).loss.detach()
```

## Use instead
```python
total = torch.zeros((), device=device, dtype=torch.float32)
for batch in loader:
    total += model(**batch).loss.detach()
```

## Fix safety
Unsafe: `dtype=` becomes `torch.float32`, and so does whatever is computed with the total.

## References
- Pitfall E10
- https://github.com/huggingface/transformers/pull/8561
- https://github.com/pytorch/torchtitan/issues/2336
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    TOTALS,
    Applicability,
    Call,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    may_be_running_total,
    precision_of,
    running_total,
)

_GAP = rb'(?:[\s",]|\\[nrt])*'  # in a notebook, lines are strings in a list
_ONE_NUMBER = (
    rb"\bzeros" + _GAP + rb"\(" + _GAP + rb"(?:[(\[]" + _GAP + rb"[)\]\d(#T]|[\dT#])"
    rb"|\btensor" + _GAP + rb"\(" + _GAP + rb"[\d.TF(#]"
)  # fmt: skip
"""The start of a call that makes a tensor of one number: `zeros(())`, `zeros(1)`, `tensor(0.0)`."""

RULE = Rule(
    code="MP306",
    name="half-running-total",
    summary="a running total in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="always",
    triggers=((b"torch",), (b"zeros(", b"tensor("), (b"dtype",), (b"for ", b"while ")),
    pattern=_ONE_NUMBER,
    calls=TOTALS,
    pitfalls=("E10",),
)

_STOPS = {"bfloat16": 256, "float16": 2048}


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return may_be_running_total(node, file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    found = running_total(call, file)
    dtype = call.keywords.get("dtype")
    if found is not None and dtype is not None:
        yield file.finding(
            RULE,
            call.span,
            f"this total is {found.dtype}, and a loop adds to it",
            confidence=Confidence.HIGH if found.is_certain else Confidence.MEDIUM,
            why=f"A {found.dtype} total of ones stops at {_STOPS[found.dtype]}: add up in float32.",
            fix=Fix(
                Applicability.UNSAFE,
                "Add up in float32",
                (Edit(dtype.span, "torch.float32"),),
            ),
            related=found.related,
            precisions=tuple(filter(None, [precision_of(found.dtype)])),
        )
