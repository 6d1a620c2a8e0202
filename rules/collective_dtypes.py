"""A collective of torch.distributed for tensors of two dtypes, or one that gloo does not have.

## What it does
Finds calls of `all_gather`, `gather`, `scatter`, `reduce_scatter`, `all_to_all` and
`all_to_all_single` of `torch.distributed` whose two sides certainly have different dtypes, such as
a float16 tensor and a list of float32 buffers, and `all_reduce`, `reduce` and `broadcast` of a
float8 tensor in a file that opens its process group with gloo.

Not reported: tensors of which one dtype is not known, and calls in `try:`.

## Why it hurts
`ValueError: Invalid usage of tensors with different dtypesFound torch.float32 and  torch.float16`
(spelled so in torch 2.13), and for float8 with gloo `RuntimeError: Invalid scalar type`. It happens
on every rank, after the job got its machines.

## Example
```python
logits = model(batch).half()
gathered = [torch.empty(4) for _ in range(dist.get_world_size())]
dist.all_gather(gathered, logits)
```

## Use instead
```python
logits = model(batch).half()
gathered = [torch.empty(4, dtype=logits.dtype) for _ in range(dist.get_world_size())]
dist.all_gather(gathered, logits)
```

## Fix safety
There is no fix: which side gets the dtype of the other one is a choice.

## References
- Pitfalls N01, N03
- https://github.com/pytorch/pytorch/issues/150433
- https://github.com/Lightning-AI/torchmetrics/issues/1809
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    COLLECTIVES,
    Call,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    may_be_refused,
    may_fail_on_purpose,
    qualified,
    refused,
    syntax_tree,
)

RULE = Rule(
    code="MP409",
    name="collective-dtypes",
    summary="a collective for tensors of two dtypes, or of one that gloo does not have",
    severity=Severity.ERROR,
    since="0.1.0",
    triggers=(
        (b"torch.distributed",),
        (b"gather(", b"scatter(", b"all_to_all", b"float8"),
        (b"half(", b"float16", b"float8", b"float64", b"double("),
    ),
    calls=COLLECTIVES,
    pitfalls=("N01", "N03"),
    yields_to=("MP410",),
)


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return may_be_refused(qualified(node.func, syntax_tree(file).names), file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    found = refused(call, file)
    if found is None or may_fail_on_purpose(call, file):
        return
    yield file.finding(
        RULE,
        call.span,
        found.problem,
        confidence=Confidence.HIGH,
        why=found.error,
        related=[one.origin.related for one in found.tensors if one.origin is not None],
    )
