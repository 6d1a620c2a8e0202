"""A dtype of torch that is compared with a text.

## What it does
Finds comparisons of a `torch.dtype` with the name of one: `x.dtype == "bfloat16"`, `weight.dtype in
("float16", "half")`, `str(x.dtype) == "float16"`. That it is a dtype of torch is known where `x` is
annotated with `torch.Tensor`, is made by a function of torch, is one of a module's `parameters()`,
or is `self.weight` in a module, where the code beside the comparison calls a method that only
torch's tensors have (`x.float()`), where all calls of the function in the file give it a tensor,
and where a variable holds `torch.float16`.

Not reported: the dtypes of anything else. Arrays of NumPy and tensors of Keras do equal texts, and
in most configurations a dtype is a text.

## Why it hurts
The comparison is always False, and that of `!=` always True, without an error: `torch.bfloat16 ==
"bfloat16"` is False, and `str(torch.bfloat16)` is `"torch.bfloat16"` (every torch up to 2.13). So
the branch for half precision is never taken.

## Example
```python
def scores(x: torch.Tensor) -> torch.Tensor:
    if x.dtype == "float16":
        x = x.float()
    return x.softmax(-1)
```

## Use instead
```python
def scores(x: torch.Tensor) -> torch.Tensor:
    if x.dtype == torch.float16:
        x = x.float()
    return x.softmax(-1)
```

## Fix safety
Unsafe: the branch that was never taken is taken then.

## References
- Pitfall H03
- https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.dtype
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import dtype_names
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    NeverEqual,
    PythonFile,
    Rule,
    Severity,
    Span,
    never_equal,
)

RULE = Rule(
    code="MP610",
    name="dtype-compared-with-string",
    summary="a torch dtype that is compared with a string",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"dtype",),
        tuple(
            f"{quote}{name}".encode()
            for name in ("bfloat16", "float16", "half", "float32", "torch.")
            for quote in "'\""
        ),
    ),
    pitfalls=("H03",),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in never_equal(file):
        shown = " or ".join(file.text[file.span_of(text)] for text in found.texts)
        left = " ".join(file.text[file.span_of(found.node.left)].split())
        why = "`torch.bfloat16 == 'bfloat16'` is False: a dtype never equals a string."
        if found.is_str:
            why = "`str(torch.bfloat16)` is 'torch.bfloat16'."
        yield file.finding(
            RULE,
            file.span_of(found.node),
            f"`{left}` is never {shown}",
            confidence=Confidence.MEDIUM if found.givers else Confidence.HIGH,
            why=why,
            fix=_fix(found, file),
            related=[
                file.related(file.span_of(call), "a tensor of torch is given here")
                for call in found.givers
            ],
        )


def _fix(found: NeverEqual, file: PythonFile) -> Fix | None:
    """The dtypes instead of their names; `torch.` before the names that `str` is compared with."""
    edits: list[Edit | None] = []
    for text in found.texts:
        span = file.span_of(text)
        if found.is_str:
            quoted = file.text[span]
            is_plain = quoted[1:-1] == text.value
            edits.append(Edit(Span(span.start + 1, span.start + 1), "torch.") if is_plain else None)
        else:
            edits.append(dtype_names.as_dtype(file, span))
    known = tuple(edit for edit in edits if edit is not None)
    if len(known) < len(edits):
        return None
    return Fix(Applicability.UNSAFE, "Compare with the dtype", known)
