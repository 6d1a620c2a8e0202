"""A Triton kernel updates a value that it has already stored in half precision.

## What it does
Finds `@triton.jit` kernels that load half-precision elements which they stored before, add to them
or subtract from them, and store them again: a single element that an earlier store of the same run
wrote, in a loop whose address does not change, or under a lock that other programs take in turn.
Loading and changing a tensor once is fine, and so is a block that is made of two parts.

## Why it hurts
The first store rounds to the 8 bits of bfloat16, and later terms are added to the rounded number.
If the two nearly cancel, the rounding error dominates the result: the gradient of the true class is
`p - 1`, and if `p = 0.99` is stored first and 1 is subtracted later, the result is 17 % off. Sums
that are accumulated in a half-precision buffer stop growing: bfloat16 has no number between 256 and
258.

## Example
```python
@triton.jit
def softmax_gradient_kernel(p_ptr, labels_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    p_ptr += row * n
    offsets = tl.arange(0, BLOCK)
    x = tl.load(p_ptr + offsets, mask=offsets < n, other=-float("inf")).to(tl.float32)
    tl.store(p_ptr + offsets, tl.softmax(x), mask=offsets < n)
    tl.debug_barrier()
    label = tl.load(labels_ptr + row)
    true_class = tl.load(p_ptr + label).to(tl.float32)
    true_class -= 1.0
    tl.store(p_ptr + label, true_class)


def softmax_gradient(logits, labels):
    probabilities = logits.to(torch.bfloat16)
    softmax_gradient_kernel[(logits.shape[0],)](probabilities, labels, logits.shape[1], 4096)
    return probabilities
```

## Use instead
```python
@triton.jit
def softmax_gradient_kernel(p_ptr, labels_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    p_ptr += row * n
    offsets = tl.arange(0, BLOCK)
    x = tl.load(p_ptr + offsets, mask=offsets < n, other=-float("inf")).to(tl.float32)
    label = tl.load(labels_ptr + row)
    p = tl.softmax(x)
    tl.store(p_ptr + offsets, tl.where(offsets == label, p - 1.0, p), mask=offsets < n)


def softmax_gradient(logits, labels):
    probabilities = logits.to(torch.bfloat16)
    softmax_gradient_kernel[(logits.shape[0],)](probabilities, labels, logits.shape[1], 4096)
    return probabilities
```

## Fix safety
There is no fix: the value has to be complete before it is stored, or be accumulated in float32.

## References
- Pitfalls G06, G07
- https://github.com/linkedin/Liger-Kernel/issues/1329
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import Finding, Kernel, Note, PythonFile, Rule, Severity, note_findings

RULE = Rule(
    code="MP509",
    name="triton-half-read-modify-write",
    summary="a Triton kernel updates a value that it has already stored in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G06", "G07"),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    return note_findings(kernel, file, RULE, ("update",), _message, _why)


def _message(note: Note) -> str:
    return f"`{note.subject}` was rounded to half precision before this is added to it"


def _why(note: Note) -> str:
    return "If the two nearly cancel, the result is mostly the first rounding error."
