"""A Triton math function gets half precision, or an operator gets float8.

## What it does
Finds calls in `@triton.jit` kernels of functions that support float32 (some also float64) and
nothing narrower, with half-precision elements: `tl.exp`, `exp2`, `log`, `log2`, `sqrt`, `rsqrt`,
`sin`, `cos`, `erf`, `floor`, `ceil`, `sigmoid`, `sqrt_rn`, `div_rn`, all of `libdevice`, and the
atomics other than `atomic_add`. An operand that was promoted before the call is float32, and is
fine: `tl.exp(x - tl.max(x, 0))`. So is a tensor that every launch of the project passes in float32,
also where a function that is defined beside the launch allocates it.

If the file shows that elements are float8, because a launch passes a tensor of such a dtype or the
kernel converts to it, the same applies to float8 and to operations that compute in it: `x * y`, `x
+ 1`, `-x`, `tl.sum` and `tl.cumsum`. Combined with float32 or half precision, float8 is promoted,
and is fine; combined with integers and masks, it is not.

## Why it hurts
Triton does not convert operands. The kernel does not compile: `Expected dtype ['fp32', 'fp64'] but
got bf16`, or `KeyError: (triton.language.bfloat16)` from libdevice. No instruction adds or
multiplies float8: code that the front end accepts ends in `PassManager::run failed`. It works with
float32 tensors, which most tests use.

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
kernel's types are consistent with it for every dtype that failed, and unsafe in a helper that
others may call and in a kernel that asks for integers or float64. There is no fix for atomics: the
value must have the dtype of the tensor that it updates.

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
    code="MP503",
    name="triton-math-on-half",
    summary="a math function or atomic of Triton gets half precision, or an operator float8",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G03", "G06"),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    kinds = ("math", "atomic", "float8")
    return rejection_findings(kernel, file, RULE, kinds, _message, triton.fix)


def _message(rejection: ReportedError) -> str:
    before, dtype = (side.partition("[")[0] for side in (rejection.before, rejection.after))
    if rejection.kind == "atomic":
        return f"`tl.{rejection.subject}` does not work on {dtype}"
    if rejection.kind == "float8":
        name = f"tl.{rejection.subject}" if rejection.subject.isalpha() else rejection.subject
        dtype = dtype if dtype.startswith("fp8") else before
        return f"`{name}` does not compute in {dtype}: convert an operand to float32"
    function = rejection.subject
    name = function if function.startswith("libdevice.") else f"tl.{function}"
    return f"`{name}` does not take {dtype}: convert the operand to float32"
