"""A literal in a Triton kernel that becomes zero or infinity in half precision.

## What it does
Finds literals in `@triton.jit` kernels that half precision cannot represent, next to elements that
were not converted to float32: a factor like `1e5`, which is infinity in float16, and small numbers
that become zero, such as the `1e-8` of `x + 1e-8`, `tl.maximum(x, 1e-8)`,
`tl.where(x == 0, 1e-8, x)` and `x < 1e-8`. float16 ends at 65504 and has nothing between 0 and
6e-8. bfloat16 has the range of float32, but Triton passes literals to it with six decimals, so
literals below 5e-7 become zero there too. A constant that every launch of the project passes for a
`tl.constexpr` parameter counts as a literal. Before Triton 3.2 such elements became float32; with
`tl.maximum`, `tl.minimum` and `tl.clamp` they did so before 3.9.

Large numbers that are added, selected, compared or passed to `tl.load` as `other` are not reported:
they stand for infinity.

## Why it hurts
Since 3.2, a literal takes the dtype of the elements that it is combined with, before anything is
computed. A small constant no longer keeps zero out of a denominator or a logarithm, and every
product with infinity is infinity, or NaN where the other factor was 0. Nothing fails, and float32
tensors give the right result in a test.

## Example
```python
@triton.jit
def normalize_kernel(x_ptr, norm_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n)
    norm = tl.load(norm_ptr + row)
    tl.store(x_ptr + row * n + offsets, x / (norm + 1e-8), mask=offsets < n)


def normalize(x):
    y = x.to(torch.bfloat16)
    normalize_kernel[(y.shape[0],)](y, y.norm(dim=1).to(torch.bfloat16), y.shape[1], 4096)
    return y
```

## Use instead
```python
@triton.jit
def normalize_kernel(x_ptr, norm_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n)
    norm = tl.load(norm_ptr + row).to(tl.float32)
    tl.store(x_ptr + row * n + offsets, x / (norm + 1e-8), mask=offsets < n)


def normalize(x):
    y = x.to(torch.bfloat16)
    normalize_kernel[(y.shape[0],)](y, y.norm(dim=1).to(torch.bfloat16), y.shape[1], 4096)
    return y
```

## Fix safety
The fix loads the elements as float32, or converts the value that the literal is combined with. It
is safe if the kernel's types are consistent with it for every dtype; stores convert back. It is
unsafe if the loaded elements are also used in an address, a mask, `tl.dot` or an unknown function.

## References
- Pitfall G07
- https://github.com/triton-lang/triton/blob/v3.5.1/python/src/ir.cc
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import triton
from precision_lint.rule_api import (
    HALF,
    Finding,
    Kernel,
    Note,
    PythonFile,
    Rule,
    Severity,
    note_findings,
)

RULE = Rule(
    code="MP510",
    name="triton-literal-out-of-range",
    summary="a number in a Triton kernel is zero or infinity in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G07",),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    return note_findings(kernel, file, RULE, ("zero", "infinity"), _message, _why, triton.fix)


def _message(note: Note) -> str:
    return f"`{note.subject}` becomes {note.kind} next to {_half(note)} elements"


def _half(note: Note) -> str:
    if note.computed_in >= HALF:
        return "half-precision"
    return "bfloat16" if "bf16" in note.computed_in else "float16"


def _why(note: Note) -> str:
    if note.kind == "infinity":
        return "Every product is infinity, or NaN where the elements are 0."
    return "The number is 0 in the kernel, and everything that it scales becomes 0."
