"""A variable changes its dtype in a run-time branch of a Triton kernel.

## What it does
Finds an `if` in a `@triton.jit` kernel that is decided at run time and after which a variable would
have two types: the branch redefines it with another dtype than before, or it is new and the two
blocks disagree. A branch on a `tl.constexpr` is decided at compile time, and is fine; a parameter
without that annotation is a run-time value, even if a bool is passed for it.

## Why it hurts
Both sides of a run-time branch assign one variable, and Triton does not convert. The kernel does
not compile: `initial value for x is of type bf16[...], but the then block redefines it as
fp32[...]`, or `Mismatched type for y between then block (fp32) and else block (int32)`. A
half-precision value combined with a float argument becomes float32, so a kernel that was only
tested with float32 tensors fails for the first user who trains in bfloat16.

## Example
```python
@triton.jit
def scale_kernel(x_ptr, scale, DO_SCALE, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if DO_SCALE:
        x = scale * x
    tl.store(x_ptr + offsets, x)
```

## Use instead
```python
@triton.jit
def scale_kernel(x_ptr, scale, DO_SCALE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets).to(tl.float32)
    if DO_SCALE:
        x = scale * x
    tl.store(x_ptr + offsets, x)
```

## Fix safety
The fix loads the variable as float32, which loses nothing: stores convert back. It is safe if the
kernel's types are consistent with it for every dtype that failed, and unsafe if the loaded elements
are also used in an address, a mask, `tl.dot` or an unknown function. If there is no load to widen,
a variable that starts from `tl.zeros` or `0` starts in float32. Otherwise the unsafe fix casts the
value assigned in the branch back to the variable's earlier dtype, or, if the file only passes bools
for the flag, makes the flag a `tl.constexpr`: one kernel is compiled for each of its values.

## References
- Pitfall G01
- https://github.com/unslothai/unsloth/issues/1248
- https://github.com/unslothai/unsloth/issues/1251
- https://github.com/triton-lang/triton/issues/1423
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
    code="MP501",
    name="triton-branch-dtype",
    summary="a variable changes its dtype in a run-time branch of a Triton kernel",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G01",),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    return rejection_findings(kernel, file, RULE, ("branch", "mismatch"), _message, triton.fix)


def _message(rejection: ReportedError) -> str:
    before, after = rejection.shown
    name = f"`{rejection.subject}`"
    if rejection.kind == "mismatch":
        text = f"{name} is {before} in the then block and {after} in the else block"
    else:
        text = f"{name} changes from {before} to {after} in the {rejection.block} block"
    if rejection.flag is None:
        return f"{text} of a run-time branch"
    return f"{text}: `{rejection.flag.name}` is not tl.constexpr, so this is a run-time branch"
