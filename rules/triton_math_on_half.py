"""A math function of Triton gets half precision.

## What it does
Finds calls in `@triton.jit` kernels of functions that take float32 (some float64, too) and nothing
narrower, with half-precision elements: `tl.exp`, `exp2`, `log`, `log2`, `sqrt`, `rsqrt`, `sin`,
`cos`, `erf`, `floor`, `ceil`, `sigmoid`, `sqrt_rn`, `div_rn`, all of `libdevice`, and the atomics
other than `atomic_add`. An operand that was promoted on the way is float32, and fine: `tl.exp(x -
tl.max(x, 0))`.

## Why it hurts
Triton does not convert operands. The kernel does not compile: `Expected dtype ['fp32', 'fp64'] but
got bf16`, or `KeyError: (triton.language.bfloat16)` from libdevice. With float32 tensors it works,
which is what most tests have.

## Example
```python
@triton.jit
def silu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)


def silu(x):
    y = torch.empty_like(x)
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
```

## Use instead
```python
@triton.jit
def silu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * tl.sigmoid(x.to(tl.float32)), mask=offsets < n)
```

## Fix safety
The fix converts the operand to float32, which holds every half-precision value. It is safe if the
kernel's types agree with it for every dtype that failed, and unsafe in a helper that others may
call. What an atomic adds to or replaces has the dtype of its tensor: there is no fix for those.

## References
- Pitfall G03
- Pitfall G06
- https://github.com/vllm-project/vllm-omni/issues/3464
- https://github.com/triton-lang/triton/issues/624
- https://github.com/triton-lang/triton/issues/241
- https://github.com/triton-lang/triton/issues/1387
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.finding import Finding, Severity
from precision_lint.fixers import triton
from precision_lint.rule import Rule
from precision_lint.source.python import PythonFile
from precision_lint.triton_types.certainty import certainty, severity
from precision_lint.triton_types.kernels import Kernel
from precision_lint.triton_types.rejections import Rejection

RULE = Rule(
    code="MP503",
    name="triton-math-on-half",
    summary="a math function or atomic of Triton gets half precision",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G03", "G06"),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    for rejection in kernel.rejections:
        if rejection.kind in ("math", "atomic"):
            confidence = certainty(rejection, file)
            yield file.finding(
                RULE,
                rejection.span,
                _message(rejection),
                confidence=confidence,
                severity=severity(confidence),
                why=rejection.compiler_says,
                fix=triton.fix(rejection.remedy),
                related=rejection.related,
            )


def _message(rejection: Rejection) -> str:
    dtype = rejection.after.partition("[")[0]
    if rejection.kind == "atomic":
        return f"`tl.{rejection.subject}` does not work on {dtype}"
    function = rejection.subject
    name = function if function.startswith("libdevice.") else f"tl.{function}"
    return f"`{name}` does not take {dtype}: convert the operand to float32"
