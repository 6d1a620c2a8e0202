"""A variable changes its dtype from one iteration of a Triton loop to the next.

## What it does
Finds a `for` or `while` loop in a `@triton.jit` kernel that assigns a variable another dtype than
it had before the loop: a half-precision accumulator to which float32 is added, an `x` that is
scaled by a float argument, `total =
0` to which floats are added. Loops over `tl.range` and over a `range` of constants count as well;
`tl.static_range` is unrolled, and is fine.

## Why it hurts
A loop-carried variable has one type. The kernel does not compile: `Loop-carried variable acc has
initial type <[64], bf16> but is re-assigned to <[64], fp32> in loop!`. Half precision combined with
a float32 value becomes float32, so a kernel that was only tested with float32 tensors fails for the
first user who trains in bfloat16.

## Example
```python
@triton.jit
def sum_kernel(x_ptr, out_ptr, scale, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float16)
    for start in range(0, n, BLOCK):
        total += scale * tl.load(x_ptr + start + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(total, 0))
```

## Use instead
```python
@triton.jit
def sum_kernel(x_ptr, out_ptr, scale, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        total += scale * tl.load(x_ptr + start + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(total, 0))
```

## Fix safety
The fix starts the variable in float32: its load, the dtype of `tl.zeros` or `tl.full`, `0.0` for
`0`. That loses nothing, because stores convert back. It is offered if the kernel's types are
consistent with it for every dtype that failed. It is unsafe in a helper that others may call, and
if the loaded elements are also used in an address, a mask, `tl.dot` or an unknown function. If only
a cast of the assigned value helps, back to the variable's earlier dtype, the fix is unsafe: each
iteration then rounds.

## References
- Pitfall G02
- https://github.com/triton-lang/triton/issues/1441
- https://github.com/triton-lang/triton/issues/1891
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
    code="MP502",
    name="triton-loop-dtype",
    summary="a variable changes its dtype in a loop of a Triton kernel",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G02",),
    preview=True,
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    return rejection_findings(kernel, file, RULE, ("loop",), _message, triton.fix)


def _message(rejection: ReportedError) -> str:
    before, after = rejection.shown
    name = f"`{rejection.subject}`"
    match before:
        case "None":
            return f"{name} is None before the loop, but the loop assigns it"
        case "constexpr":
            return f"{name} is fixed at compile time, and the loop assigns it"
        case _ if before == after:
            return f"{name} is {before} before the loop, and has another shape after an iteration"
    return f"{name} is {before} before the loop, but the loop makes it {after}"
