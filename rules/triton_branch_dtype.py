"""A variable changes its dtype in a run-time branch of a Triton kernel.

## What it does
Finds an `if` in a `@triton.jit` kernel, decided at run time, after which a variable would have two
types: it is redefined in the branch with another dtype than it had before, or it is new and the two
blocks disagree. A branch on a `tl.constexpr` is decided while compiling, and fine; a parameter
without that annotation is a run-time value, even if a bool is passed for it.

## Why it hurts
Both sides of a run-time branch end in one variable, and Triton does not convert. The kernel does
not compile: `initial value for x is of type bf16[...], but the then block redefines it as
fp32[...]`, or `Mismatched type for y between then block (fp32) and else block (int32)`. A
half-precision value that meets a float argument becomes float32, so a kernel that was only tried
with float32 tensors fails for the first user who trains in bfloat16.

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
kernel's types agree with it for every dtype that failed, and unsafe if the loaded elements also go
into an address, a mask, `tl.dot` or a function that is not known. Where there is no load to widen,
and the file only passes bools for the flag, the unsafe fix makes the flag a `tl.constexpr`: one
kernel is compiled for each of its values.

## References
- Pitfall G01
- https://github.com/unslothai/unsloth/issues/1248
- https://github.com/unslothai/unsloth/issues/1251
- https://github.com/triton-lang/triton/issues/1423
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.finding import Applicability, Confidence, Finding, Fix, Related, Severity
from precision_lint.fixers import triton
from precision_lint.rule import Rule
from precision_lint.source.python import PythonFile
from precision_lint.triton_types.kernels import Kernel
from precision_lint.triton_types.mismatches import Annotation, Mismatch, Widening

RULE = Rule(
    code="MP501",
    name="triton-branch-dtype",
    summary="a variable changes its dtype in a run-time branch of a Triton kernel",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"triton",), (b"jit",)),
    pitfalls=("G01",),
)


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    for mismatch in kernel.mismatches:
        yield file.finding(
            RULE,
            mismatch.assigned,
            _message(mismatch),
            confidence=_confidence(mismatch, file),
            why=_why(mismatch),
            fix=_fix(mismatch),
            related=_related(mismatch, file),
        )


def _confidence(mismatch: Mismatch, file: PythonFile) -> Confidence:
    """Kernels often load float32 state beside a default of 0.0; values that promote do not."""
    if mismatch.always_fails:
        return Confidence.HIGH
    if mismatch.promotes_itself and not mismatch.is_new:
        return file.chosen_by_caller()
    return Confidence.LOW


def _message(mismatch: Mismatch) -> str:
    before, after = mismatch.before, mismatch.after
    if before.partition("[")[0] != after.partition("[")[0]:
        before, after = before.partition("[")[0] or before, after.partition("[")[0] or after
    name = f"`{mismatch.variable}`"
    if mismatch.is_new:
        text = f"{name} is {before} in the then block and {after} in the else block"
    else:
        text = f"{name} changes from {before} to {after} in the {mismatch.block} block"
    if mismatch.flag is None:
        return f"{text} of a run-time branch"
    return f"{text}: `{mismatch.flag.name}` is not tl.constexpr, so this is a run-time branch"


def _why(mismatch: Mismatch) -> str:
    """The compiler's words."""
    name, before, after = f"`{mismatch.variable}`", mismatch.before, mismatch.after
    if mismatch.is_new:
        error = (
            f"Mismatched type for {mismatch.variable} between then block "
            f"({before.removesuffix('[]')}) and else block ({after.removesuffix('[]')})"
        )
    else:
        error = (
            f"initial value for {name} is of type {before}, "
            f"but the {mismatch.block} block redefines it as {after}"
        )
    hidden = "" if "fp32" in mismatch.fails_for else " (not for float32 tensors, which hide it)"
    return f"CompilationError: {error}{hidden}."


def _related(mismatch: Mismatch, file: PythonFile) -> list[Related]:
    found = [file.related(load, "half precision enters here") for load in mismatch.loads]
    if mismatch.flag is not None:
        message = f"`{mismatch.flag.name}` has no tl.constexpr annotation"
        found.append(file.related(mismatch.flag.span, message))
    return found


def _fix(mismatch: Mismatch) -> Fix | None:
    match mismatch.remedy:
        case Widening(load=load, float32=float32, is_contained=is_contained):
            return Fix(
                Applicability.SAFE if is_contained else Applicability.UNSAFE,
                f"Load as {float32}",
                (triton.widen(load, float32),),
            )
        case Annotation(at=at, constexpr=constexpr):
            return Fix(
                Applicability.UNSAFE,
                f"Make the flag a {constexpr}",
                (triton.annotate(at, constexpr),),
            )
    return None
