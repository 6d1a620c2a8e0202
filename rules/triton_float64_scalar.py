"""A float parameter of a Triton kernel is float64 under torch.compile.

## What it does
Finds float parameters of `@triton.jit` kernels that are combined with blocks of numbers without a
cast. Triton passes a Python float as float32. `torch.compile`, from PyTorch 2.11 on, passes it as
float64 to the kernels that it traces. Parameters with `tl.constexpr`, and those that the kernel
casts before it uses them, are fine. Confidence is medium if the project compiles the function that
launches the kernel, or one that calls it, and the scalar costs more than one operation outside of
the kernel's loops; it is low otherwise.

## Why it hurts
A float64 scalar promotes everything that it is combined with to float64, so a loop that carries a
float32 variable no longer compiles: `Loop-carried variable m has initial type fp32 but is
re-assigned to fp64 in loop!`. Without a loop-carried variable, the kernel compiles and computes in
float64: cross entropy has been seen to take 27 times as long, RMS norm 11 times. Both only happen
under `torch.compile`.

## Example
```python
@triton.jit
def peak_kernel(x_ptr, out_ptr, scale, n, BLOCK: tl.constexpr):
    peak = float("-inf")
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK)).to(tl.float32)
        peak = tl.maximum(peak, tl.max(x * scale, 0))
    tl.store(out_ptr, peak)


@torch.compile
def peak(x, scale: float):
    out = torch.empty(1, device=x.device)
    peak_kernel[(1,)](x, out, scale, x.numel(), 1024)
    return out
```

## Use instead
```python
@triton.jit
def peak_kernel(x_ptr, out_ptr, scale, n, BLOCK: tl.constexpr):
    scale = tl.cast(scale, tl.float32)
    peak = float("-inf")
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK)).to(tl.float32)
        peak = tl.maximum(peak, tl.max(x * scale, 0))
    tl.store(out_ptr, peak)


@torch.compile
def peak(x, scale: float):
    out = torch.empty(1, device=x.device)
    peak_kernel[(1,)](x, out, scale, x.numel(), 1024)
    return out
```

## Fix safety
The fix gives the parameter the dtype that it has without `torch.compile`. It is safe where the
code shows that the parameter is a float; an integer may be larger than float32 holds. It does not
write `scale.to(tl.float32)`, which fails if the argument is specialized at compile time, as Triton
does for the integer 1. There is no fix for a parameter that may be None. If the value hardly ever
changes, `scale: tl.constexpr` also works; each value then compiles its own kernel.

## References
- https://github.com/linkedin/Liger-Kernel/issues/1350
- https://github.com/linkedin/Liger-Kernel/issues/1358
- https://github.com/pytorch/pytorch/pull/170289
- https://github.com/pytorch/pytorch/pull/190340
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import triton
from precision_lint.rule_api import Confidence, Finding, Kernel, Note, PythonFile, Rule, Severity

RULE = Rule(
    code="MP506",
    name="triton-float64-scalar",
    summary="a float parameter of a Triton kernel is float64 under torch.compile",
    severity=Severity.WARNING,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
)

_PASSED_AS_FLOAT64 = (2, 11)
_AS_FLOAT32 = rb"_use_fp64_for_unbacked_floats\s*=\s*False"


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    notes = [note for note in kernel.notes if note.kind == "float64"]
    if not notes or not _are_passed_as_float64(file):
        return
    for note in notes:
        compiled = kernel.compiled if note.is_shown else None
        yield file.finding(
            RULE,
            note.span,
            f"`{note.subject}` is float64 under torch.compile, and so is what is computed with it",
            confidence=Confidence.LOW if compiled is None else Confidence.MEDIUM,
            why=_why(note),
            fix=triton.fix(note.remedy),
            related=note.related if compiled is None else (*note.related, compiled),
        )


def _are_passed_as_float64(file: PythonFile) -> bool:
    torch = file.project.version_of("torch")
    is_old = torch is not None and torch < _PASSED_AS_FLOAT64
    return not is_old and not file.project.python_source_matches(_AS_FLOAT32)


def _why(note: Note) -> str:
    if note.compiler_message:
        return f"CompilationError under torch.compile: {note.compiler_message.removesuffix('.')}."
    return "The kernel computes in float64 there, many times slower than in float32."
