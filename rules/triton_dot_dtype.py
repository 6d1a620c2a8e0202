"""`tl.dot` gets two dtypes, or an unsupported accumulator.

## What it does
Finds `tl.dot` in `@triton.jit` kernels with operands of two dtypes, such as float32 probabilities
and half-precision values, or float8 and half precision; with `out_dtype=tl.bfloat16`; and with an
accumulator in bfloat16 or in a dtype other than `out_dtype`.

## Why it hurts
Triton does not convert operands. The kernel does not compile: `Both operands must be same dtype.
Got fp32 and bf16`, or `out_dtype=bfloat16 is unsupported`. The result of `tl.exp`, or of a sum with
a float argument, is float32, so attention that does not cast the probabilities back works only for
float32 tensors.

## Example
```python
@triton.jit
def attend_kernel(p_ptr, v_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    v = tl.load(v_ptr + at)
    p = tl.exp(tl.load(p_ptr + at).to(tl.float32))
    tl.store(out_ptr + at, tl.dot(p, v).to(out_ptr.dtype.element_ty))
```

## Use instead
```python
@triton.jit
def attend_kernel(p_ptr, v_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    v = tl.load(v_ptr + at)
    p = tl.exp(tl.load(p_ptr + at).to(tl.float32))
    tl.store(out_ptr + at, tl.dot(p.to(v.dtype), v).to(out_ptr.dtype.element_ty))
```

## Fix safety
Accumulators and `out_dtype` become float32, which is safe if the kernel's types are consistent with
it: sums are more accurate, and stores convert back. The fix for operands is unsafe: `p.to(v.dtype)`
is what tensor cores need, and it rounds.

## References
- Pitfall G04
- Pitfall G05
- https://github.com/triton-lang/triton/issues/2060
- https://github.com/triton-lang/triton/issues/2302
- https://github.com/alexzhang13/flashattention2-custom-mask/issues/4
- https://github.com/fla-org/flash-linear-attention/issues/32
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
    code="MP504",
    name="triton-dot-dtype",
    summary="`tl.dot` gets operands or an accumulator of incompatible dtypes",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G04", "G05"),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    return rejection_findings(kernel, file, RULE, ("dot",), _message, triton.fix)


def _message(rejection: ReportedError) -> str:
    before, after = rejection.shown
    match rejection.subject:
        case "out_dtype":
            return "`tl.dot` cannot return bfloat16: its sums are float32"
        case "acc":
            return f"the accumulator of `tl.dot` is {after}, but its products are {before}"
    return f"the operands of `tl.dot` are {before} and {after}"
