"""An old setting of TF32 that is read after a new one was written.

## What it does
Finds reads of `torch.backends.cuda.matmul.allow_tf32`, `torch.backends.cudnn.allow_tf32` and
`torch.get_float32_matmul_precision()` in a file that has written `fp32_precision` before, the
setting that torch 2.9 brought, with a value for which the read raises.

Not reported: writes of the old settings, which torch allows; reads after such a write; reads under
a condition on torch's version, and in `try:`; projects that pin a torch before 2.9.

## Why it hurts
`RuntimeError: PyTorch is checking whether allow_tf32_new is enabled for cuBlas matmul,Current
status indicate that you have used mix of the legacy and new APIs to set the TF32 status for cublas
matmul.` So does `hasattr(torch.backends.cuda.matmul, "allow_tf32")`, and on a CPU, too (torch
2.13).

## Example
```python
torch.backends.cuda.matmul.fp32_precision = "tf32"
print("TF32:", torch.backends.cuda.matmul.allow_tf32)
```

## Use instead
```python
torch.backends.cuda.matmul.fp32_precision = "tf32"
print("TF32:", torch.backends.cuda.matmul.fp32_precision == "tf32")
```

## Fix safety
Unsafe for a read of `allow_tf32`: it becomes a comparison of the new setting with `"tf32"`. There
is no fix for `get_float32_matmul_precision()`, whose words are others.

## References
- Pitfall K01
- https://github.com/pytorch/pytorch/issues/166387
- https://docs.pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    RaisingRead,
    Rule,
    Severity,
    raising_reads,
)

RULE = Rule(
    code="MP603",
    name="tf32-api-mix",
    summary="an old TF32 setting that is read after a new one was written",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"fp32_precision",),
        (b"allow_tf32", b"get_float32_matmul_precision"),
    ),
    pitfalls=("K01",),
)

_SINCE = (2, 9)


def check_source(file: PythonFile) -> Iterator[Finding]:
    version = file.project.version_of("torch")
    if version is not None and version < _SINCE:
        return
    for read in raising_reads(file):
        written = read.written
        yield file.finding(
            RULE,
            file.span_of(read.node),
            f"`{read.name}` cannot be read after `{written.name}` is `{written.value}`",
            confidence=Confidence.HIGH if read.is_certain else Confidence.MEDIUM,
            why="RuntimeError: … you have used mix of the legacy and new APIs … (torch 2.9 on).",
            fix=_fix(read, file),
            related=[file.related(file.span_of(written.node), "the new setting is written here")],
        )


def _fix(read: RaisingRead, file: PythonFile) -> Fix | None:
    shown = file.text[file.span_of(read.node)]
    old = "allow_tf32"
    if not shown.endswith(f".{old}"):
        return None
    new = f'{shown.removesuffix(old)}fp32_precision == "tf32"'
    edit = Edit(file.span_of(read.node), f"({new})")
    return Fix(Applicability.UNSAFE, "Read the new setting", (edit,))
