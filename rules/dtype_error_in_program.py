"""A call raises for the dtypes that the program gives it

## What it does
Follows the file as Python would run it, without running it: its statements outside of functions
from the first to the last, and the functions that they call, each with what it is given there.
Reports calls that certainly raise in this run because of a dtype:

- a layer whose input has another dtype than its weights, as after `model.half()`,
- an operator for tensors of one dtype that is given two (`torch.matmul`, attention, an indexed
  write, `lerp_`, the class weights of `F.cross_entropy`),
- a gradient of another dtype than its parameter (`parameter.grad = parameter.grad.float()`),
- arithmetic on float8 and another dtype,
- an operator without a kernel for the dtype (`torch.quantile`, `torch.linalg.svd`),
- a number that the dtype of a filled tensor does not hold (`masked_fill(mask, -1e9)` in float16),
- a function of another library that refuses the dtype of an array or a scalar of NumPy
  (`np.linalg.svd` and `Image.fromarray` of float16, `json.dump` of `np.float16`).

The calls that lead there are shown. Nothing is reported where a dtype is not certain: it depends on
an option, a checkpoint, a caller in another file, or a region that may be autocast.

## Why it hurts
The program stops, in its first step or after an hour of preparations, with one of

- `RuntimeError: mat1 and mat2 must have the same dtype, but got Float and BFloat16`
- `RuntimeError: Expected query, key, and value to have the same dtype, but got query.dtype: float`
- `RuntimeError: Index put requires the source and destination dtypes match, got BFloat16 for the
  destination and Float for the source.`
- `RuntimeError: expected scalar type BFloat16 but found Float`
- `RuntimeError: attempting to assign a gradient with dtype 'float' to a tensor with grad_dtype
  'BFloat16'.`
- `RuntimeError: quantile() input tensor must be either float or double dtype`
- `RuntimeError: value cannot be converted to type c10::Half without overflow`
- `TypeError: Object of type float16 is not JSON serializable`

The tables were measured with torch 2.13, on a CPU and an H100.

## Example
```python
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.input = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x):
        state = torch.zeros(x.shape[0], x.shape[2], device=x.device)
        for step in range(x.shape[1]):
            state = state + self.input(x[:, step])
        return self.output(state)


cell = Cell(16).bfloat16()
print(cell(torch.randn(2, 6, 16).bfloat16()))
```

## Use instead
```python
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.input = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x):
        state = torch.zeros(x.shape[0], x.shape[2], device=x.device, dtype=x.dtype)
        for step in range(x.shape[1]):
            state = state + self.input(x[:, step])
        return self.output(state)


cell = Cell(16).bfloat16()
print(cell(torch.randn(2, 6, 16).bfloat16()))
```

## Fix safety
There is no fix: which side is to be cast depends on what the program is to compute.

## References
- Pitfalls A03, A07, C08, D01, D02, D03, D04, D06, D07, D08, D09, D10, D11, E01, E02, F01, F02,
  F03, F04, F06, N01, N03
- https://github.com/pytorch/pytorch/issues/64947
- https://github.com/hiyouga/LlamaFactory/issues/3807
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    precision_of,
    program_errors,
    quoted,
)

RULE = Rule(
    code="MP410",
    name="dtype-error-in-program",
    summary="a call that raises for the dtypes that this program gives it",
    severity=Severity.ERROR,
    since="0.1.0",
    triggers=(
        (b"torch",),
        (
            b".half(", b".bfloat16(", b".double(", b"from_numpy(", b"torch.bfloat16",
            b"torch.float16", b"torch.half", b"autocast(", b"float8_",
        ),
    ),
    pitfalls=(
        "A03", "A07", "C08", "D01", "D02", "D03", "D04", "D06", "D07", "D08", "D09", "D10", "D11",
        "E01", "E02", "F01", "F02", "F03", "F04", "F06", "N01", "N03",
    ),
)  # fmt: skip


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in program_errors(file):
        places = dict.fromkeys((*found.call.way, *found.origins))
        yield file.finding(
            RULE,
            found.call.span,
            f"in this program, {found.problem}",
            confidence=Confidence.HIGH,
            why=f"{quoted(found.error)}. Change the dtype where it is chosen, or cast before the "
            "call.",
            related=[place.related for place in places],
            precisions=tuple(filter(None, map(precision_of, found.dtypes))),
        )
