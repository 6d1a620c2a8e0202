"""A word that torch does not know for the precision of float32 products.

## What it does
Finds literals that `torch.set_float32_matmul_precision` does not take ("highest", "high" and
"medium" are its words), and literals that are assigned to `fp32_precision` of a backend and are
none of "ieee", "tf32", "bf16" and "none". CUDA and cuDNN have no "bf16".

Not reported: variables, and calls in `try:`.

## Why it hurts
`torch.set_float32_matmul_precision("tf32")` only warns: `tf32 is not one of 'highest', 'high', or
'medium'; the current setFloat32MatmulPrecision call has no effect.` So products stay in full
float32, several times slower than was meant. The properties of torch 2.9 and later raise:
`RuntimeError: Unknown precision: high`, `RuntimeError: backend 'cuda' does not support precision
'bf16'`.

## Example
```python
torch.set_float32_matmul_precision("tf32")
torch.backends.cuda.matmul.fp32_precision = "high"
```

## Use instead
```python
torch.set_float32_matmul_precision("high")
torch.backends.cuda.matmul.fp32_precision = "tf32"
```

## Fix safety
Unsafe: products are computed as the word means, and were not before.

## References
- Pitfall K02
- https://docs.pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html
- https://github.com/pytorch/helion/pull/835
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from precision_lint.fixers.quotes import usual_quote
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Written,
    syntax_tree,
    writes,
)

RULE = Rule(
    code="MP611",
    name="invalid-fp32-precision",
    summary="a precision of float32 products that torch does not know",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"torch",), (b"set_float32_matmul_precision", b"fp32_precision")),
    pitfalls=("K02",),
)

_SETTER = "torch.set_float32_matmul_precision"
_OF_FUNCTION = ("highest", "high", "medium")
_OF_PROPERTY = ("ieee", "tf32", "bf16", "none")
_MEANT: Mapping[str, tuple[str, str]] = {
    "tf32": ("high", "tf32"), "high": ("high", "tf32"),
    "highest": ("highest", "ieee"), "ieee": ("highest", "ieee"),
    "fp32": ("highest", "ieee"), "float32": ("highest", "ieee"),
    "medium": ("medium", ""), "bf16": ("medium", ""), "bfloat16": ("medium", ""),
}  # fmt: skip
"""By word: what the function calls it, and what the property does; empty if it cannot say it."""


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    for written in writes(file):
        is_function = written.name == _SETTER
        if not written.value or not (is_function or written.name.endswith(".fp32_precision")):
            continue
        problem = _of_function(written) if is_function else _of_property(written)
        if not problem or syntax.may_fail_on_purpose(written.node):
            continue
        yield file.finding(
            RULE,
            file.span_of(written.node),
            _message(written, is_function),
            severity=Severity.WARNING if is_function else Severity.ERROR,
            confidence=Confidence.HIGH,
            why=problem if is_function else f"RuntimeError: {problem}.",
            fix=_fix(written, is_function, file),
        )


def _of_function(written: Written) -> str:
    if written.value in _OF_FUNCTION:
        return ""
    return "torch only warns, and the call has no effect: the precision stays as it was."


def _message(written: Written, is_function: bool) -> str:
    if is_function:
        return f"`{written.value}` is not one of {', '.join(_OF_FUNCTION)}"
    where = " for CUDA" if written.value in _OF_PROPERTY else ""
    return f"`fp32_precision` cannot be `{written.value}`{where}"


def _of_property(written: Written) -> str:
    """What torch says of the word; empty if it takes it."""
    if written.value not in _OF_PROPERTY:
        return f"Unknown precision: {written.value}"
    is_cuda = ".cuda." in written.name or ".cudnn." in written.name
    if written.value == "bf16" and is_cuda:
        return "backend 'cuda' does not support precision 'bf16'"
    return ""


def _fix(written: Written, is_function: bool, file: PythonFile) -> Fix | None:
    function, attribute = _MEANT.get(written.value.lower(), ("", ""))
    word = function if is_function else attribute
    if not word or word == written.value:
        return None
    quote = usual_quote(file)
    edit = Edit(file.span_of(written.node), f"{quote}{word}{quote}")
    return Fix(Applicability.UNSAFE, f"Use `{word}`", (edit,))
