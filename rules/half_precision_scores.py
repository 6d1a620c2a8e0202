"""Scores that are computed in half precision.

## What it does
Finds `softmax` and `log_softmax` of bfloat16 or float16 logits outside autocast, if the function
takes single numbers of the result, or ranks them: `gather`, `scores[torch.arange(n), ids]`, `topk`,
`sort`, `argsort`, `cumsum`, `item`, `tolist`. A caller in the file may do so with what the function
returns. The dtype must be known: weights that are loaded in it, a cast, a setting, or the weights
of a checkpoint that the caller names, in a program that enables bfloat16.

Finds `-F.cross_entropy(..., reduction="none")` as well, the log-probability of each target, where
the exponential of a difference is taken (`torch.exp(new - old)`), here or in another file of the
program.

Not reported: a call with `dtype=torch.float32`, logits that were cast to float32, regions of
autocast on CUDA, which compute both in float32, attention, whose weights go into a product,
functions that sample a token, cumulative sums that are only compared with a threshold, functions
that store the scores in half precision, and scores that a function only draws, or prints one by
one, and gives to nobody. An average that is printed is a result. Not reported either: single
probabilities in float16 that are not ranked (`softmax(x)[:, 1].tolist()`), which are off by at most
0.0005, values that the file follows to nothing but the choice of the largest one (`argmax`,
`max(…, key=…)`; that of sums is another matter), a comparison with a constant, or `x - x.detach()`.

## Why it hurts
There is no error. The result has the digits of its input: 10,000 random rows of logits have 9,997
different log-probabilities in float32 and 609 in bfloat16 (torch 2.13). So documents tie that
should be ranked, and sums of log-probabilities are off by percents. The entropy of a distribution
of 151,936 tokens is off by at most 3 % where it is flat, and by up to 14 % where few tokens have
nearly all of the probability (64 rows of random logits each).

## Example
```python
import torch
import torch.nn.functional as F

logits = model(ids).logits[:, -1]  # bfloat16
scores = F.log_softmax(logits, dim=-1)[:, yes].tolist()
```

## Use instead
```python
import torch
import torch.nn.functional as F

logits = model(ids).logits[:, -1]
scores = F.log_softmax(logits.float(), dim=-1)[:, yes].tolist()
```

## Fix safety
Unsafe: the result becomes float32, and a copy of the logits takes memory during the call.

Shown only for `gather` and its like where gradients may be recorded: the scores of a whole
vocabulary then take twice the memory until `backward`. No other exact form saves that. Memory of
logits of 256 x 50,000 in bfloat16, whose own size is 1 (torch 2.13 on CPU, largest error against
float64 on the right):

| | peak without gradients | kept for `backward` | peak with `backward` | error |
|---|--:|--:|--:|--:|
| `log_softmax(logits, -1).gather(...)` | 1.0 | 1.0 | 4.1 | 0.13 |
| `log_softmax(logits.float(), -1).gather(...)` | 4.0 | 2.0 | 6.1 | 0.000003 |
| `logits.gather(...).float() - logits.float().logsumexp(-1)` | 4.1 | 2.0 | 8.2 | 0.000003 |
| `log_softmax` of 16 rows of logits at a time, in float32 | 0.3 | 2.0 | 5.6 | 0.000003 |

Without gradients, a loop over the rows takes less memory than the half-precision call.

## References
- Pitfalls E09, E16
- https://github.com/huggingface/transformers/pull/34147
- https://github.com/huggingface/sentence-transformers/pull/3893
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    SCORES,
    Applicability,
    Call,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    may_be_kept_for_backward,
    may_be_scores,
    precision_of,
    scores,
)

RULE = Rule(
    code="MP309",
    name="half-precision-scores",
    summary="scores are computed in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"softmax(", b'"none"', b"'none'"),
        (b"tolist(", b"item(", b"gather(", b"topk(", b"sort(", b"cumsum(", b"range(", b"entropy("),
    ),
    calls=SCORES,
    pitfalls=("E09", "E16"),
)


_WHY = {
    False: "1,000 different log-probabilities round to about 60 values in bfloat16, about 280 in "
    "float16: compute them in float32.",
    True: "1,000 different probabilities round to about 600 values in bfloat16, off by up to 2 %, "
    "and to about 900 in float16: compute them in float32.",
}
"""What is lost, by whether these are probabilities (torch 2.13, rows of random logits)."""


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return may_be_scores(node, file)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    found = scores(call, file)
    if found is not None:
        yield file.finding(
            RULE,
            call.span,
            f"`{call.name}` {'runs' if found.is_certain else 'can run'} in {found.dtype}, "
            "but its exact values are used",
            confidence=Confidence.MEDIUM,
            why=_WHY[call.name == "softmax"],
            fix=partial(_fix, call, file),
            related=found.related,
            precisions=tuple(filter(None, [precision_of(found.dtype)])),
        )


def _fix(call: Call, file: PythonFile) -> Fix | None:
    operand = call.receiver_span if call.function is None else None
    if call.function is not None and (given := call.argument(0, "input")) is not None:
        operand = given.span
    if operand is None:
        return None
    edits = calls.append_method(file, operand, ".float()")
    level, message = Applicability.UNSAFE, "Compute the scores in float32"
    if may_be_kept_for_backward(call, file):
        level = Applicability.DISPLAY
        message = f"{message}; in training they take twice the memory until `backward`"
    return Fix(level, message, tuple(edits))
