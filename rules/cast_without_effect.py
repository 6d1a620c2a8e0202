"""A cast of a tensor whose result is thrown away.

## What it does
Finds casts of tensors that change nothing, because nobody reads what they return: `logits.float()`
as a statement of its own, `p.to(torch.bfloat16)` in a loop over `model.parameters()`, `g =
g.half()` at the end of a loop over `g`, and `key = key.float()` where nothing else reads `key`
because the code goes on with another name. `.half()`, `.bfloat16()`, `.float()` and `.double()`
count, `.type(…)`, `.type_as(…)`, and `.to(…)` with a dtype.

That it is a tensor is known from the code, or its function uses it as one (`logits.shape`). Casts
of modules are left alone: these change the module. So are casts in `try`, casts that a loop
repeats to measure them, and the last line of a cell in a notebook. The confidence is low for a cast
to float32 if nothing in the project uses half precision, and in tests.

## Why it hurts
`Module.half()` casts the module in place, `Tensor.half()` returns another tensor. What is written
as a cast to float32 before a step that half precision does not stand, such as
`torch.linalg.cholesky`, leaves the tensor in half precision; weights that were to be stored in
bfloat16 or float8 take as much memory as before. Nothing raises at the line itself.

## Example
```python
def region_loss(logits, labels):
    # cholesky has no half-precision kernel
    logits.float()
    covariance = logits.flatten(1) @ logits.flatten(1).T / logits.shape[1]
    return covariance.cholesky().logdet()
```

## Use instead
```python
def region_loss(logits, labels):
    # cholesky has no half-precision kernel
    logits = logits.float()
    covariance = logits.flatten(1) @ logits.flatten(1).T / logits.shape[1]
    return covariance.cholesky().logdet()
```

## Fix safety
The fix assigns the result to the name that was cast. It is unsafe: the code after it then gets
another dtype, as it was meant to. There is no fix where the cast is already assigned to a name
that nobody reads, and for tensors that a loop takes out of something.

## References
- Pitfall D14
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html
- https://github.com/NVIDIA/semantic-segmentation/blob/main/loss/rmi.py
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    UNUSED_CASTS,
    Applicability,
    Call,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Related,
    Rule,
    Severity,
    Span,
    Tensor,
    UnusedCast,
    may_be_unused_cast,
    precision_of,
    unused_cast,
)

RULE = Rule(
    code="MP411",
    name="cast-without-effect",
    summary="a cast of a tensor whose result is thrown away",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"torch",), tuple(sorted(b".%b(" % name.encode() for name in UNUSED_CASTS))),
    calls=UNUSED_CASTS,
    pitfalls=("D14",),
    preview=True,
)

_NARROW = frozenset({"bfloat16", "float16"})


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return may_be_unused_cast(node, file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    found = unused_cast(call, file)
    if found is None:
        return
    what = (
        f"`{found.tensor}` stays as it is"
        + (f", and does not become {found.dtype}" if found.dtype else "")
        if found.is_statement
        else f"nothing reads `{found.tensor}` afterwards"
    )
    precision = precision_of(found.dtype)
    yield file.finding(
        RULE,
        call.span,
        f"this cast has no effect: {what}",
        confidence=_confidence(found, file),
        why="A cast of a tensor returns another tensor. Use what it returns.",
        fix=_fix(found),
        related=_related(found, file),
        precisions=(precision,) if precision in ("fp16", "bf16") else RULE.precisions,
    )


def _related(found: UnusedCast, file: PythonFile) -> list[Related]:
    if found.instead is None:
        return []
    return [file.related(found.instead, f"this is what `{found.tensor}` was before the cast")]


def _confidence(found: UnusedCast, file: PythonFile) -> Confidence:
    if file.project.is_test(file.text.path):
        return Confidence.LOW
    tensor = found.call.receiver
    is_half = isinstance(tensor, Tensor) and bool(tensor.dtypes & _NARROW)
    if is_half or found.dtype in _NARROW or found.dtype.startswith("float8"):
        return Confidence.MEDIUM
    return file.chosen_by_caller()


def _fix(found: UnusedCast) -> Fix | None:
    if not found.is_assignable:
        return None
    start = Span(found.call.span.start, found.call.span.start)
    edit = Edit(start, f"{found.tensor} = ")
    return Fix(Applicability.UNSAFE, "Use what the cast returns", (edit,))
