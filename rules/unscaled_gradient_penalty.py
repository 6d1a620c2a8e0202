"""A gradient penalty on scaled gradients.

## What it does
Finds `torch.autograd.grad(scaler.scale(loss), …, create_graph=True)` where the scaled gradients go
into a loss that is scaled as well: in the same function, or in a function of the file that calls
this one and scales a sum with its result.

Functions that call `get_scale()`, or multiply or divide by a variable named like a scale, are not
reported, nor is `autograd.grad` without `create_graph=True`. Gradients of an unscaled loss are not
reported either, although small ones can underflow in float16.

## Why it hurts
`autograd.grad` returns the gradients of its argument; neither `unscale_` nor `step` ever sees them.
A penalty on scaled gradients is wrong by the scale, squared for a squared norm: with the initial
scale of 65536 the penalty of a gradient of 2 is 17179869184 instead of 4. It changes whenever the
scale changes. There is no error.

## Example
```python
grads = torch.autograd.grad(scaler.scale(loss), model.parameters(), create_graph=True)
penalty = sum(g.pow(2).sum() for g in grads)
scaler.scale(loss + penalty).backward()
```

## Use instead
```python
scaled = torch.autograd.grad(scaler.scale(loss), model.parameters(), create_graph=True)
grads = [g / scaler.get_scale() for g in scaled]
penalty = sum(g.pow(2).sum() for g in grads)
scaler.scale(loss + penalty).backward()
```

## Fix safety
There is no fix: the gradients may be a list or a single tensor, and may be used in several places.

## References
- Pitfall B10
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-penalty
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    scaled_penalties,
)

RULE = Rule(
    code="MP218",
    name="unscaled-gradient-penalty",
    summary="a gradient penalty on gradients that a scaler has scaled",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16",),
    triggers=((b"GradScaler", b"scaler"), (b"torch",), (b"create_graph",), (b".scale(",)),
    pitfalls=("B10",),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in scaled_penalties(file):
        yield file.finding(
            RULE,
            file.span_of(found.gradients),
            "these gradients are scaled, and nothing divides them by the scale",
            confidence=Confidence.MEDIUM,
            why="`unscale_` does not change the gradients that `autograd.grad` returns: divide "
            "them by `scaler.get_scale()` before the penalty is computed.",
            related=[
                file.related(file.span_of(found.scaled), "the loss is scaled here"),
                file.related(file.span_of(found.again), "the loss with the penalty is scaled here"),
            ],
        )
