"""The logarithm of a probability that half precision rounds to zero.

## What it does
Finds `log`, `log2`, `log10` and `log1p` of what the code makes of a `sigmoid` or a `softmax`, where
this is exactly 0 in float16 or bfloat16 for logits that a model gives: `torch.log(1 - p)`,
`torch.log(p)` in float16, and the same with `+ 1e-8` or `clamp(1e-6, 1 - 1e-6)`, if that number is
0, or its difference from 1 is, in the dtype. Also `torch.log(x + 1e-8)` of any float16 tensor: its
author says that it can be 0, and 1e-8 is 0 there. The ends of the probability are followed through
the function as torch computes them. The dtype must be known: a cast, weights that are loaded in
it, a setting, a region of autocast. On CUDA, such a region computes `softmax` in float32, but
leaves `sigmoid`, `1 - p` and `p + 1e-8` in half precision, and `log` comes too late.

Not reported: logits that were cast to float32, `log_softmax`, `logsigmoid`, an epsilon that the
dtype has (`1 - p + 1e-6`), functions that sample a token, and values of which only the largest one
counts.

## Why it hurts
A sigmoid is 1 for logits from 8.4 on in float16, and from 6.3 on in bfloat16, so that
`log(1 - p)` is `-inf` there; it is 0 below -17.4 in float16, as is a softmax that is this far from
the largest one. In float32 the ends are at 16.7 and -103. The loss is infinite, its gradient is
NaN, and so is the entropy `-(p * p.log()).sum()`: 0 times infinity. A GradScaler skips the step.
Measured with torch 2.13.

## Example
```python
import torch

with torch.autocast("cuda", dtype=torch.float16):
    p = torch.sigmoid(model(x))
    loss = -(y * torch.log(p + 1e-8) + (1 - y) * torch.log(1 - p + 1e-8)).mean()
```

## Use instead
```python
import torch
import torch.nn.functional as F

with torch.autocast("cuda", dtype=torch.float16):
    logits = model(x)
    loss = -(y * F.logsigmoid(logits.float()) + (1 - y) * F.logsigmoid(-logits.float())).mean()
```

## Fix safety
Safe for a logarithm right around the call: `log(softmax(x, -1))` is `log_softmax(x, -1)`,
`log(sigmoid(x))` is `logsigmoid(x)`, `log(1 - sigmoid(x))` is `logsigmoid(-x)`: the same dtype,
with finite values. Unsafe under autocast, where `logsigmoid` is in half precision and `log` in
float32.
No fix for others: where the logits come from is for the author to say.

## References
- Pitfalls E04, E18
- https://github.com/zylo117/Yet-Another-EfficientDet-Pytorch/issues/502
- https://github.com/fastino-ai/GLiNER2/pull/155
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

from precision_lint.rule_api import (
    LOGARITHMS,
    Applicability,
    Call,
    Confidence,
    Edit,
    Finding,
    Fix,
    HalfLogarithm,
    PythonFile,
    Rule,
    Severity,
    Span,
    callee_name,
    imported_names,
    logarithm,
    may_be_of_probability,
    precision_of,
    qualified,
)

RULE = Rule(
    code="MP311",
    name="log-of-half-probability",
    summary="the logarithm of a probability that half precision rounds to zero",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"log(", b"log2(", b"log10(", b"log1p("),
        (b"sigmoid", b"softmax", b"Sigmoid", b"Softmax", b"e-"),
        (b"bfloat16", b"float16", b"half(", b"fp16", b"bf16", b"autocast"),
    ),
    calls=LOGARITHMS,
    pitfalls=("E04", "E18"),
    preview=True,
)


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return may_be_of_probability(node, file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    found = logarithm(call, file)
    if found is None:
        return
    dtype, ends, guard = found.result.dtype, found.ends, found.ends.guard
    span = call.span
    if guard is not None:
        end = "zero" if guard.number < 0.5 else "one"
        message = f"{guard.number:.9g} is {end} in {dtype}: it does not keep `{call.name}` finite"
        own = file.span_of(guard.node)
        span = own if call.span.start <= own.start and own.end <= call.span.end else span
    else:
        verb = "is" if found.result.is_certain else "can be"
        made = "sigmoid" if ends.source is None else callee_name(ends.source)
        message = f"`{call.name}` is infinite where the `{made}` that {verb} {dtype} ends"
    yield file.finding(
        RULE,
        span,
        message,
        confidence=Confidence.MEDIUM,
        why="1 - p is 0 for logits above 8.4 in float16, 6.3 in bfloat16; p is 0 below -17.4 in "
        "float16: compute from the logits, in float32.",
        fix=partial(_fix, found, file),
        related=found.result.related,
        precisions=tuple(filter(None, [precision_of(dtype)])),
    )


def _fix(found: HalfLogarithm, file: PythonFile) -> Fix | None:
    """The logarithm and the probability in one function, which is exact."""
    call, operand = found.result.call, found.operand
    is_complement = False
    match operand:
        case ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Sub(), right=inner):
            operand, is_complement = inner, True
    if call.name != "log" or call.keywords or not isinstance(operand, ast.Call):
        return None
    if callee_name(operand) == "softmax" and not is_complement:
        return _log_softmax(call, operand, file)
    if callee_name(operand) == "sigmoid":
        return _logsigmoid(call, operand, file, is_complement=is_complement)
    return None


def _log_softmax(call: Call, softmax: ast.Call, file: PythonFile) -> Fix | None:
    if not isinstance(softmax.func, ast.Attribute):
        return None
    span, name = file.span_of(softmax), file.span_of(softmax.func).end - len("softmax")
    content = f"{file.text[Span(span.start, name)]}log_{file.text[Span(name, span.end)]}"
    return Fix(Applicability.SAFE, "Use `log_softmax`", (Edit(call.span, content),))


def _logsigmoid(
    call: Call, sigmoid: ast.Call, file: PythonFile, *, is_complement: bool
) -> Fix | None:
    imports = imported_names(file)
    local = {name: each for each, name in imports.items()}
    functional = local.get("torch.nn.functional")
    if functional is None and "torch" in local:
        functional = f"{local['torch']}.nn.functional"
    match sigmoid:
        case ast.Call(args=[given], keywords=[]) if _is_of_torch(sigmoid, imports):
            logits = given
        case ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]):
            logits = owner
        case _:
            return None
    if functional is None:
        return None
    text = file.text[file.span_of(logits)]
    if is_complement:
        text = f"-{text}" if isinstance(logits, ast.Name | ast.Attribute) else f"-({text})"
    level = Applicability.SAFE if call.autocast is None else Applicability.UNSAFE
    content = f"{functional}.logsigmoid({text})"
    return Fix(level, "Use `logsigmoid`", (Edit(call.span, content),))


def _is_of_torch(node: ast.Call, imports: Mapping[str, str]) -> bool:
    return qualified(node.func, imports).startswith("torch.")
