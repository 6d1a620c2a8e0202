"""NumPy conversion of a bfloat16 tensor.

## What it does
Finds tensors that are bfloat16 (or fp8, or complex32), or that can be because the weights, the
model or the caller choose their dtype, where they are turned into NumPy arrays: `.numpy()`,
`.numpy(force=True)`, `np.asarray(t)`, `np.array(t)`, `t.__array__()`.

Integers, bools, comparisons, `argmax`, token ids, tensors that were cast, and arrays of other
libraries are left alone, and so are `.tolist()` and `.item()`, which work. A tensor whose dtype is
chosen at run time is reported only in a project that uses bfloat16 somewhere.

## Why it hurts
NumPy has no bfloat16: `TypeError: Got unsupported ScalarType BFloat16` (torch 2.13; the same in
every release). `.numpy(force=True)` and `np.asarray(t, dtype=np.float32)` raise as well, because
torch converts before NumPy casts. Tests in float32 never see it.

## Example
```python
logits = model(**batch).logits
scores = logits.cpu().numpy()
```

## Use instead
```python
from precision_lint.runtime import to_numpy

logits = model(**batch).logits
scores = to_numpy(logits.cpu())
```
or, where the tensor is known to be bfloat16, `logits.cpu().float().numpy()`.

## Fix safety
Safe. A tensor that is proved to be bfloat16 or fp8 gets `.float()` behind the move to the host,
where half the bytes were copied: before, the line could only raise. A tensor that is only sometimes
bfloat16 goes through `to_numpy`, which widens the dtypes that NumPy lacks and leaves every other
tensor as it is; `.float()` would change an integer or a float64 tensor. The helper is imported
from `precision_lint.runtime`: add `precision-lint[runtime]` to the requirements.

## References
- Pitfalls A01, A02
- https://github.com/unslothai/unsloth/issues/930
- https://github.com/InternLM/lmdeploy/issues/2453
- https://github.com/pytorch/pytorch/issues/110285
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.dtypes.calls import Call
from precision_lint.dtypes.values import BFLOAT16, FLOAT8, Tensor
from precision_lint.finding import Applicability, Confidence, Edit, Finding, Fix, Severity, Span
from precision_lint.fixers import calls, imports
from precision_lint.rule import Rule
from precision_lint.source.python import PythonFile

RULE = Rule(
    code="MP101",
    name="numpy-on-bfloat16",
    summary="NumPy conversion of a tensor that is or can be bfloat16",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="always",
    triggers=(
        (b"torch",),
        (b".numpy(", b"asarray(", b".array(", b"__array__", b"from numpy import"),
    ),
    calls=frozenset({"numpy", "asarray", "array", "__array__"}),
    pitfalls=("A01", "A02"),
)

LACKING = frozenset({BFLOAT16, "complex32"}) | FLOAT8
"""The dtypes of tensors that NumPy does not have (measured, torch 2.13)."""

WIDENED = frozenset({BFLOAT16}) | FLOAT8
"""Those that `.float()` widens without loss; of complex32 it would drop the imaginary part."""


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    converted = _converted(call)
    if converted is None:
        return
    value, span = converted
    if not value.possible(LACKING):
        return
    proved = value.proved(LACKING)
    dtypes = sorted(value.dtypes & LACKING) or [BFLOAT16]
    dtype = " or ".join(dtypes)
    what = (
        file.text[span] if span.end - span.start <= 40 and "\n" not in file.text[span] else "this"
    )
    yield file.finding(
        RULE,
        call.span,
        f"`{what}` is {dtype}, which NumPy does not have"
        if proved
        else f"`{what}` can be {dtype}, which NumPy does not have",
        confidence=Confidence.HIGH if proved or value.dtypes & LACKING else file.chosen_by_caller(),
        why=f"`TypeError: Got unsupported ScalarType {_scalar_type(dtypes[0])}`, at run time, on "
        f"{dtype} only.",
        fix=_fix(call, file, span, widen=value.proved(WIDENED)),
        related=[value.origin.related] if value.origin else [],
    )


def _scalar_type(dtype: str) -> str:
    """What torch calls a dtype in this message."""
    names = {BFLOAT16: "BFloat16", "complex32": "ComplexHalf"}
    return names.get(dtype, dtype.capitalize())


def _converted(call: Call) -> tuple[Tensor, Span] | None:
    """The tensor that the call turns into an array, and its place."""
    if call.name in {"numpy", "__array__"} and isinstance(call.receiver, Tensor):
        return (call.receiver, call.receiver_span) if call.receiver_span else None
    if call.function in {"numpy.asarray", "numpy.array"} and call.arguments:
        first = call.arguments[0]
        if isinstance(first.value, Tensor) and not first.starred:
            return first.value, first.span
    return None


def _fix(call: Call, file: PythonFile, span: Span, *, widen: bool) -> Fix | None:
    is_method = call.receiver_span is not None and call.function is None
    if widen:
        edits: list[Edit] | None
        if is_method:
            insertion = calls.insert_before_method(file, call, ".float()")
            edits = None if insertion is None else [insertion]
        else:
            edits = calls.append_method(file, span, ".float()")
        message = "Widen to float32 on the host"
    else:
        start = call.span.start
        function, added = imports.import_name(file, "precision_lint.runtime", "to_numpy", start)
        if is_method:
            edits = calls.wrap_receiver(file, call, function)
        else:
            edits = calls.wrap_argument(span, function)
        edits = None if edits is None else [*added, *edits]
        message = "Convert with `to_numpy`, which widens what NumPy lacks and nothing else"
    return None if edits is None else Fix(Applicability.SAFE, message, tuple(edits))
