"""A long sum that is accumulated in half precision.

## What it does
Finds sums in `@triton.jit` kernels that stay in bfloat16 or float16: `tl.sum`, `tl.cumsum`,
`tl.cumprod`, `tl.reduce` and `tl.associative_scan` of elements that were not converted to float32,
variables that a loop adds to, and `tl.atomic_add` into a half-precision buffer. The version of
Triton matters: `tl.sum` of bfloat16 is computed in bfloat16 from 3.3 on, `tl.cumsum` from 3.9 on;
earlier versions, from 2.0 on, use float32. Every version sums float16 in float16: with an earlier
one, the finding is about float16 alone and says so. `tl.max` and sums that pick one element round
nothing.

Kernels are typed by all launches of the project, through wrappers in other files and functions in
functions: casts, allocations, what a backward pass saves and gets. Confidence is low where no
launch shows that half precision arrives, where benchmarks or its own file alone use the kernel and
name no half dtype (unless it is in a package, or casts to the dtype of what it is given), where the
host offers float32 under another condition, and where a few programs each add once to a place
(split products). So it is where nothing names half precision that the kernel may be a part of: no
file that runs with it, no test that names it or its package, no configuration that a program with
it names.

## Why it hurts
Every addition is rounded to the 8 bits of bfloat16 or the 11 of float16. A bfloat16 sum of ones
stops at 256, as 257 is not a bfloat16 number; a float16 sum stops at 2048, and overflows at 65504.
Nothing fails, and float32 tensors give the right result in a test.

## Example
```python
@triton.jit
def row_mean_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0) / n)


def row_mean(x):
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    row_mean_kernel[(x.shape[0],)](x.to(torch.bfloat16), out, x.shape[1], 4096)
    return out
```

## Use instead
```python
@triton.jit
def row_mean_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(x, axis=0) / n)


def row_mean(x):
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    row_mean_kernel[(x.shape[0],)](x.to(torch.bfloat16), out, x.shape[1], 4096)
    return out
```

## Fix safety
The fix loads the elements as float32, converts the summed value (of a product, its first factor),
or starts the accumulator in float32. It is safe if the kernel's types are consistent with it for
every dtype; stores convert back. It is unsafe if the loaded elements are also used in an address, a
mask, `tl.dot` or an unknown function, if their dtype is read after the load, and in a kernel that
asks for integers or float64 (`element_ty != tl.int8`), which float32 does not hold. There is no fix
for atomics: the buffer belongs to the caller.

## References
- Pitfalls G05, G06, G07
- https://github.com/microsoft/triton-shared/issues/139
- https://github.com/triton-lang/triton/issues/1387
- https://github.com/triton-lang/triton/pull/1689
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import triton
from precision_lint.rule_api import Finding, Kernel, Note, PythonFile, Rule, Severity, note_findings

RULE = Rule(
    code="MP507",
    name="triton-half-accumulation",
    summary="a long sum that is accumulated in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G05", "G06", "G07"),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    kinds = ("reduction", "accumulator", "atomic")
    return note_findings(kernel, file, RULE, kinds, _message, _why, triton.fix)


def _message(note: Note) -> str:
    match note.kind:
        case "accumulator":
            return f"the loop adds to `{note.subject}` in half precision"
        case "atomic":
            return f"`tl.atomic_add` adds to `{note.subject}` in half precision"
    kind = "half precision" if "bf16" in note.holds_for else "float16"
    return f"`tl.{note.subject}` stays in {kind}: convert to float32 first"


def _why(note: Note) -> str:
    if "bf16" in note.holds_for:
        return "Every addition rounds to 8 significant bits: a bfloat16 sum of ones stops at 256."
    return "Every addition rounds to 11 significant bits, and a float16 sum overflows at 65504."
