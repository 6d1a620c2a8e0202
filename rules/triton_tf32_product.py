"""`tl.dot` multiplies float32 in TF32.

## What it does
Finds `tl.dot` in `@triton.jit` kernels with operands that are float32 whatever the kernel is
launched with, and with neither `input_precision` nor `allow_tf32`. At least one of them must have
been computed in float32, or come from a tensor that a launch shows to be float32: a half-precision
tensor that is converted to float32 loses nothing. All findings have low confidence, because most
authors accept TF32 for its speed. Files that mention TF32 for other products are skipped, and so
are files for accelerators without TF32, such as Ascend's (`torch.npu`).

## Why it hurts
On NVIDIA GPUs since Ampere, Triton then uses TF32: operands are rounded to 11 bits, as in float16.
Results agree with float32 to about three digits, which tests with a tolerance for half precision do
not detect. PyTorch, by contrast, multiplies float32 matrices in float32 unless configured
otherwise.

## Example
```python
@triton.jit
def scores_kernel(q_ptr, k_ptr, out_ptr, scale, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    q = tl.load(q_ptr + at).to(tl.float32) * scale
    k = tl.load(k_ptr + at).to(tl.float32)
    k = tl.dot(k, k, input_precision="ieee")
    tl.store(out_ptr + at, tl.dot(q, k))
```

## Use instead
```python
@triton.jit
def scores_kernel(q_ptr, k_ptr, out_ptr, scale, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    q = tl.load(q_ptr + at).to(tl.float32) * scale
    k = tl.load(k_ptr + at).to(tl.float32)
    k = tl.dot(k, k, input_precision="ieee")
    tl.store(out_ptr + at, tl.dot(q, k, input_precision="ieee"))
```

## Fix safety
The fix is only shown. `"ieee"` is several times slower than TF32; `"tf32x3"` is between the two, in
speed and in precision. If you want TF32, write `input_precision="tf32"`.

## References
- Pitfall G05
- https://github.com/triton-lang/triton/issues/10176
- https://github.com/pytorch/helion/issues/1531
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers import triton
from precision_lint.rule_api import Confidence, Finding, Kernel, PythonFile, Rule, Severity, regex

RULE = Rule(
    code="MP511",
    name="triton-tf32-product",
    summary="`tl.dot` multiplies float32 in TF32",
    severity=Severity.INFO,
    since="0.1.0",
    precisions=("fp32", "tf32"),
    fix="display",
    triggers=((b"triton",), (b"jit",), (b"dot",)),
    pitfalls=("G05",),
)

_KNOWS = regex(
    r"(?i)(?!allow_tf32\s*=\s*False)\b(?:\w*tf32|\w*float32_matmul_precision|fp32_precision"
    r"|TRITON_F32_DEFAULT)"
)
_OTHER_ACCELERATOR = regex(r"\btorch[._](?:npu|mlu|musa)\b")


def check_kernel(kernel: Kernel, file: PythonFile) -> Iterator[Finding]:
    products = [note for note in kernel.notes if note.kind == "tf32" and note.always]
    text = file.text.text
    if not products or _KNOWS.search(text) or _OTHER_ACCELERATOR.search(text):
        return
    refuses = any(map(_refuses, file.nodes))
    for note in products:
        yield file.finding(
            RULE,
            note.span,
            "the float32 operands of this `tl.dot` are rounded to TF32",
            confidence=Confidence.LOW,  # most authors accept TF32 for speed
            why=_why(refuses),
            fix=triton.with_argument(text, note.span, 'input_precision="ieee"'),
        )


def _refuses(node: ast.AST) -> bool:
    """True for an argument that asks for all digits."""
    match node:
        case ast.keyword(arg="allow_tf32", value=ast.Constant(value=False)):
            return True
        case ast.keyword(arg="input_precision", value=ast.Constant(value="ieee")):
            return True
    return False


def _why(refuses: bool) -> str:
    if refuses:
        return (
            "NVIDIA GPUs keep 11 of the 24 significant bits; other products of this file request "
            "all 24."
        )
    return "NVIDIA GPUs keep 11 of the 24 significant bits; `torch.matmul` keeps all 24 by default."
