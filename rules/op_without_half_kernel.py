"""An operator that has no kernel for a half dtype.

## What it does
Finds calls of operators that raise for bfloat16 or float16 and work in float32, on a tensor of such
a dtype: `torch.quantile`, most of `torch.linalg` (`svd`, `qr`, `eigh`, `inv`, `det`, `cholesky`,
`solve`, `lstsq`), `torch.fft` of bfloat16, `torch.complex`, `torch.polar` and
`torch.view_as_complex` of bfloat16, `F.ctc_loss`, `F.pdist` outside autocast. Which they are was
measured on CPU (torch 2.13) and on an H100 (torch 2.11); an operator counts if it raises on both,
for operands of any size: `torch.cdist` raises for up to 25 rows only. One that raises on one of
them alone (`torch.fft.fft` of float16 works on CUDA for powers of two) is reported where the code
names this device: `x.cpu()`, `x.to("cuda")`. Inside of an autocast region it counts if it raises
there, too: CUDA's autocast casts nothing for `torch.quantile`.

It is an error if the tensor certainly is of such a dtype, and a warning if the program shows that
it can be. Calls in `try` are left alone.

## Why it hurts
`RuntimeError: quantile() input tensor must be either float or double dtype`, `NotImplementedError:
"linalg_svd_cpu" not implemented for 'BFloat16'`, `RuntimeError: linalg.inv: Low precision dtypes
not supported. Got BFloat16`, `RuntimeError: Unsupported dtype BFloat16`, `RuntimeError:
view_as_complex is only supported for half, float and double tensors`. The code works until somebody
runs it in half precision: the line is often reached late, in an evaluation or when a checkpoint is
merged.

## Example
```python
import torch


def clip_outliers(weight):
    weight = weight.to(torch.bfloat16)
    limit = torch.quantile(weight, 0.99)
    return weight.clamp(-limit, limit)
```

## Use instead
```python
import torch


def clip_outliers(weight):
    weight = weight.to(torch.bfloat16)
    limit = torch.quantile(weight.float(), 0.99)
    return weight.clamp(-limit, limit)
```

## Fix safety
The operands are cast with `.float()`. Safe where the operand certainly is of a half dtype, because
the call can only raise. Unsafe otherwise: `.float()` makes float64 narrower, and the result becomes
float32 where it was float64.

## References
- Pitfalls F01, F02, F03, F04, F05
- https://github.com/pytorch/pytorch/issues/64947
- https://github.com/pytorch/pytorch/issues/117844
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    BFLOAT16,
    FLOAT32,
    LACKING_CALLS,
    Applicability,
    Call,
    Confidence,
    Finding,
    Fix,
    Lacking,
    PythonFile,
    Rule,
    Severity,
    Tensor,
    guard_excludes_bfloat16,
    lacking,
    may_fail_on_purpose,
    precision_of,
    quoted,
    text_of,
    witnesses,
)

RULE = Rule(
    code="MP402",
    name="op-without-half-kernel",
    summary="an operator that has no kernel for the half dtype of its operand",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="always",
    triggers=((b"torch",), tuple(sorted(b"%b(" % name.encode() for name in LACKING_CALLS))),
    calls=LACKING_CALLS,
    pitfalls=("F01", "F02", "F03", "F04", "F05"),
    yields_to=("MP410",),
    preview=True,
)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    found = lacking(call, file)
    if found is None or may_fail_on_purpose(call, file):
        return
    dtypes = frozenset(found.errors)
    related = [one.origin.related for one in found.tensors if one.origin is not None]
    confidence = Confidence.HIGH
    if not found.is_proved:
        if dtypes == {BFLOAT16} and any(
            guard_excludes_bfloat16(guard, file.text) for guard in call.guards
        ):
            return
        seen = [*witnesses(filter(_is_as_given, found.tensors), dtypes, file, call.span)]
        related += seen
        confidence = Confidence.MEDIUM if seen else Confidence.LOW
    possible = sorted({name for one in found.tensors for name in one.dtypes & dtypes} or dtypes)
    what = text_of(found.operands[0], file, "its operand")
    on = "" if found.device is None else f" on {found.device}"
    yield file.finding(
        RULE,
        call.span,
        f"`{found.operator}` has no {' or '.join(possible)} kernel{on}, "
        f"and {what} {'is' if found.is_proved else 'can be'} {possible[0]}",
        confidence=confidence,
        severity=Severity.ERROR if found.is_proved else Severity.WARNING,
        why=f"{quoted(found.errors[possible[0]])}. Cast to float32 with `.float()`.",
        fix=_fix(found, file),
        related=list(dict.fromkeys(related)),
        precisions=tuple(filter(None, map(precision_of, possible))),
    )


def _is_as_given(tensor: Tensor) -> bool:
    """False for one that a branch casts to float32: `if cast_to_fp32: x = x.float()`."""
    is_handed_on = tensor.origin is not None and tensor.origin.route
    return FLOAT32 not in tensor.dtypes or bool(is_handed_on)


def _fix(found: Lacking, file: PythonFile) -> Fix:
    level = Applicability.SAFE if found.is_proved else Applicability.UNSAFE
    edits = [
        edit
        for operand in found.operands
        for edit in calls.append_method(file, operand.span, ".float()")
    ]
    return Fix(level, "Cast to float32", tuple(edits))
