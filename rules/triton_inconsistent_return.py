"""A helper of a Triton kernel returns two dtypes, or a run-time ternary has two dtypes.

## What it does
Finds `@triton.jit` helpers in which the `return` statements give different dtypes, and `a if flag
else b` with two dtypes and a condition that is decided at run time. An early `return` under a
compile-time `if` counts as well, unless the other `return` is in its `else`: Triton compiles the
code that follows.

## Why it hurts
A call and a ternary have one type, and Triton does not convert. The kernel does not compile:
`Return type mismatch: <[64], fp32> and <[64], bf16>`, or `Ternary expression with dynamic
condition has inconsistent types`. Half precision combined with a float argument becomes float32, so
the two sides agree for float32 tensors only.

## Example
```python
@triton.jit
def scaled(x, scale, wanted):
    if wanted:
        return x * scale
    return x


@triton.jit
def kernel(x_ptr, scale, wanted, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(x_ptr + at, scaled(x, scale, wanted))
```

## Use instead
```python
@triton.jit
def scaled(x, scale, wanted):
    if wanted:
        return x * scale
    return x


@triton.jit
def kernel(x_ptr, scale, wanted, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at).to(tl.float32)
    tl.store(x_ptr + at, scaled(x, scale, wanted))
```

## Fix safety
The fix loads the elements as float32, or converts the half-precision side to it, which loses
nothing: stores convert back. It is safe if the kernel's types are consistent with it for every
dtype that failed. It is unsafe in a helper that others may call, and if the loaded elements are
also used in an address, a mask, `tl.dot` or an unknown function.

## References
- Pitfall G09
- https://github.com/triton-lang/triton/pull/8785
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import triton
from precision_lint.rule_api import (
    Finding,
    Kernel,
    PythonFile,
    ReportedError,
    Rule,
    Severity,
    rejection_findings,
)

RULE = Rule(
    code="MP505",
    name="triton-inconsistent-return",
    summary="a Triton helper returns two dtypes, or a ternary has two",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G09",),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    return rejection_findings(kernel, file, RULE, ("return", "ternary"), _message, triton.fix)


def _message(rejection: ReportedError) -> str:
    before, after = rejection.shown
    if rejection.kind == "ternary":
        return f"a run-time ternary is {before} or {after}"
    return f"`{rejection.subject}` returns {after} here, but {before} above"
