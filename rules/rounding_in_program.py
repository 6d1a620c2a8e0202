"""A program rounds numbers to half precision where their digits count.

## What it does
Follows the file as Python would run it, without running it: its statements outside of functions
from the first to the last, and the functions that they call, each with what it is given there.
Reports what certainly is in half precision in this run, and needs more digits:

- a total to which a loop adds,
- a copy of the weights that is averaged with a decay,
- the cross entropy of logits,
- uniform noise of which a logarithm is taken,
- bfloat16 weights that an optimizer updates at a rate of 3e-5 or less, where most stay the same,
- a number such as 1e-8 that is added in float16, where it is zero.

Sums of squares in float16 are left to MP308, and positions in half precision to MP304: whether they
are wrong depends on the numbers.
Nothing is reported where the dtype depends on an option, a checkpoint or a caller in another file.

## Why it hurts
There is no error. A count stops at 256 in bfloat16. An average of weights with a decay of 0.999
never moves in bfloat16, and AdamW with a rate of 1e-5 leaves 83 to 97 of 100 weights where they
are. `torch.rand` gives exact zeros, whose logarithm is infinite. Measured with torch 2.13.

## Example
```python
import torch
from torch import nn

model = nn.Linear(64, 8).bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for features in torch.randn(20, 32, 64).bfloat16():
    model(features).float().square().mean().backward()
    optimizer.step()
```

## Use instead
```python
import torch
from torch import nn

model = nn.Linear(64, 8)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for features in torch.randn(20, 32, 64):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(features).float().square().mean()
    loss.backward()
    optimizer.step()
```

## Fix safety
There is no fix: how far the computation is to be in float32 is for its author to say.

## References
- Pitfalls E04, E07, E08, E09, E10, E14
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
    triggers=(
        (b"torch",),
        (b".half(", b".bfloat16(", b"torch.bfloat16", b"torch.float16", b"torch.half"),
        (
            b"+= ",
            b"deepcopy(",
            b"entropy(",
            b"rand",
            b"e-",
            b"optim",
        ),
    ),
    yields_to=("MP301", "MP306", "MP307", "MP311"),
    pitfalls=("E04", "E07", "E08", "E09", "E10", "E14"),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in program_rounding(file):
        places = [*(place.related for place in found.call.way), *found.related]
        yield file.finding(
            RULE,
            found.call.span,
            f"{found.problem} in this program",
            confidence=Confidence.MEDIUM,
            why=f"{found.effect[:1].upper()}{found.effect[1:]}. Use float32 here.",
            related=list(dict.fromkeys(places)),
            precisions=tuple(filter(None, [precision_of(found.dtype)])),
        )
