"""An offset of a Triton kernel is an int32 product that can overflow.

## What it does
Finds offsets like `tl.program_id(0) * stride` that address memory and are computed in int32. Both
the program id and a stride below 2^31 are int32, and so is their product. If any other part of the
offset is int64, nothing is reported. All findings have low confidence, because few tensors have
2^31 elements. The finding says so if large tensors are expected: another kernel of the file adds
int64 offsets to the same parameter, or the product is converted to int64 after the multiplication.

## Why it hurts
From 2^31 elements on, the product wraps around, and the kernel reads and writes other memory: wrong
numbers or an illegal memory access, far from the cause. Logits of 16384 tokens and 151936 words
have 2.5e9 elements.

## Example
```python
@triton.jit
def scale_rows_kernel(x_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (row * stride).to(tl.int64) + offsets, mask=offsets < n)
    tl.store(x_ptr + (row * stride).to(tl.int64) + offsets, x * 2.0, mask=offsets < n)
```

## Use instead
```python
@triton.jit
def scale_rows_kernel(x_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offsets, mask=offsets < n)
    tl.store(x_ptr + row * stride + offsets, x * 2.0, mask=offsets < n)
```

## Fix safety
The fix converts the program id to int64 where it is read, so that all products are int64. It is
unsafe: int64 offsets cost registers, which only pays off for large tensors.

## References
- https://github.com/triton-lang/triton/issues/832
- https://github.com/triton-lang/triton/issues/1058
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import triton
from precision_lint.rule_api import (
    Confidence,
    Finding,
    Kernel,
    Note,
    Pin,
    PythonFile,
    Remedy,
    Rule,
    Severity,
    Span,
)

RULE = Rule(
    code="MP508",
    name="triton-int32-offset",
    summary="an offset of a Triton kernel is an int32 product that can overflow",
    severity=Severity.INFO,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    by_cause: dict[Remedy | Pin | Span, list[Note]] = {}
    for note in kernel.notes:
        if note.kind in ("offset", "late cast"):
            # Offsets that one conversion repairs are one mistake.
            by_cause.setdefault(note.remedy or note.span, []).append(note)
    for notes in by_cause.values():
        late = [note for note in notes if note.kind == "late cast"]
        inconsistent = [note for note in notes if note.subject in kernel.wide]
        note = [*late, *inconsistent, *notes][0]
        yield file.finding(
            RULE,
            note.span,
            "this product is computed in int32 and overflows from 2^31 on",
            confidence=Confidence.LOW,  # few tensors have 2^31 elements
            why=_why(note, bool(inconsistent)),
            fix=triton.fix(note.remedy),
            related=note.related,
        )


def _why(note: Note, is_inconsistent: bool) -> str:
    if note.kind == "late cast":
        return "The conversion to int64 comes after the overflow."
    if is_inconsistent:
        return f"Other offsets of `{note.subject}` in this file are int64, for larger tensors."
    return f"`{note.subject}` is accessed at wrong addresses if it has more than 2^31 elements."
