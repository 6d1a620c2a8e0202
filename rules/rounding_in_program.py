"""A program rounds numbers to half precision where their digits count

## What it does
Follows the file as Python would run it, without running it: its statements outside of functions
from the first to the last, and the functions that they call, each with what it is given there.
Reports what certainly is in half precision in this run, and needs more digits:

- positions that are made in half precision, or multiplied by frequencies in half precision, and
  become angles,
- a total to which a loop adds, and a running sum that is used as integers,
- a sum or a mean of squares in float16,
- a copy of the weights that is averaged with a decay,
- the cross entropy of logits,
- uniform noise of which a logarithm is taken,
- weights that an optimizer updates at a rate below 1e-3, where most steps round to nothing,
- a number such as 1e-8 that is added in float16, where it is zero.

Nothing is reported where the dtype depends on an option, a checkpoint or a caller in another file.

## Why it hurts
There is no error. bfloat16 has every integer up to 256 and float16 up to 2048: larger positions
coincide, and a count stops there. The square of 256 is infinite in float16. An average of weights
with a decay of 0.999 never moves in bfloat16. `torch.rand` gives exact zeros, whose logarithm is
infinite. Measured with torch 2.13.

## Example
```python
import torch
from torch import nn


class Norm(nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


norm = nn.Sequential(nn.Linear(16, 16), nn.ReLU()).half()
hidden = norm(torch.full((1, 16), 300.0).half())
print(Norm()(hidden))
```

## Use instead
```python
import torch
from torch import nn


class Norm(nn.Module):
    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


norm = nn.Sequential(nn.Linear(16, 16), nn.ReLU()).half()
hidden = norm(torch.full((1, 16), 300.0).half())
print(Norm()(hidden))
```

## Fix safety
There is no fix: how far the computation is to be in float32 is for its author to say.

## References
- Pitfalls E04, E05, E06, E07, E08, E09, E10, E11, E14, E16
- https://github.com/huggingface/transformers/pull/29285
- https://github.com/pytorch/pytorch/issues/87561
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
    program_rounding,
)

RULE = Rule(
    code="MP310",
    name="rounding-in-program",
    summary="numbers that this program rounds to half precision where their digits count",
    severity=Severity.WARNING,
    since="0.1.0",
    preview=True,
    triggers=(
        (b"torch",),
        (b".half(", b".bfloat16(", b"torch.bfloat16", b"torch.float16", b"torch.half"),
        (
            b"arange(",
            b"linspace(",
            b"mean(",
            b"sum(",
            b"+= ",
            b"deepcopy(",
            b"entropy(",
            b"rand",
            b"e-",
            b"optim",
        ),
    ),
    yields_to="MP301",
    pitfalls=("E04", "E05", "E06", "E07", "E08", "E09", "E10", "E11", "E14", "E16"),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in program_rounding(file):
        places = [*(place.related for place in found.call.way), *found.related]
        yield file.finding(
            RULE,
            found.call.span,
            f"{found.problem} in this program",
            confidence=Confidence.MEDIUM,
            why=f"{found.effect[:1].upper()}{found.effect[1:]}. Compute it in float32.",
            related=list(dict.fromkeys(places)),
            precisions=tuple(filter(None, [precision_of(found.dtype)])),
        )
