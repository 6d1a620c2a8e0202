"""A sum or a mean of squares in float16.

## What it does
Finds `x.pow(2).mean(-1)`, `(x ** 2).sum()`, `(x * x).mean()`, `torch.mean(x.square())` of a tensor
that is float16, or can be: by a cast, by weights that are loaded so, by a setting. `pow` under
autocast on CUDA is float32 and is not reported, nor are bfloat16, which has the range of float32,
and what was cast before. Where the file does something when it is started, it is followed as Python
would run it, and squares of certainly float16 tensors and arrays of NumPy (`x.half().numpy() ** 2`)
are found in the functions that it calls. Whether the numbers are large enough is not known.

## Why it hurts
There is no error. float16 ends at 65504, so that the square of 256 is infinite:
`torch.full((8,), 300.).half().pow(2).mean()` is `inf` (torch 2.13), and a norm that divides by its
root gives zeros. The squares of numbers below 1.7e-4 are 0. `dtype=torch.float32` in `mean` comes
too late.

## Example
```python
x = x.half()
scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
```

## Use instead
```python
x = x.half()
scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
return (x * scale).half()
```

## Fix safety
There is no fix: the result must be cast back where the function ends.

## References
- Pitfalls A06, E11
- https://github.com/pytorch/pytorch/pull/134106
- https://github.com/meta-llama/llama/issues/1048
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    SUMS,
    Call,
    Confidence,
    Finding,
    HalfResult,
    PythonFile,
    Rule,
    Severity,
    decides_dtypes_around,
    may_be_sum_of_squares,
    squares_of_program,
    sum_of_squares,
)

RULE = Rule(
    code="MP308",
    name="fp16-square-mean",
    summary="a sum or a mean of squares in float16",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16",),
    triggers=(
        (b"torch",),
        (b"mean(", b"sum("),
        (b"pow(", b"square(", b"**", b"*"),
        (b"float16", b"half(", b"fp16", b"autocast"),
    ),
    calls=SUMS,
    intraprocedural=SUMS,
    pitfalls=("A06", "E11"),
    preview=True,
)


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return may_be_sum_of_squares(node) and decides_dtypes_around(node, file)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in squares_of_program(file):
        yield _finding(found, file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    found = sum_of_squares(call, file)
    if found is not None and all(each.call.span != call.span for each in squares_of_program(file)):
        yield _finding(found, file)


def _finding(found: HalfResult, file: PythonFile) -> Finding:
    related = [*(place.related for place in found.call.way), *found.related]
    return file.finding(
        RULE,
        found.call.span,
        f"the squares {'are' if found.is_certain else 'can be'} float16, "
        "which overflows at 256 squared and above",
        confidence=Confidence.MEDIUM,
        why="Squares of numbers of 256 and more are infinite, those of numbers below 1.7e-4 "
        "are 0: cast to float32 first.",
        related=list(dict.fromkeys(related)),
    )
