"""Training under float16 autocast without a GradScaler.

## What it does
Finds a CUDA autocast region in float16, which is also its default dtype, in a function that calls
`backward()` and steps an optimizer, in a file without any loss scaling: no GradScaler, DeepSpeed,
Accelerate or Fabric. A region under `no_grad` computes no gradients and is fine. Tests are not
reported, because their training results do not matter.

## Why it hurts
There is no error. Gradients of activations are float16 where autocast ran in float16, and values
smaller than 6e-8 become zero: the layers below learn from zeros. With a loss of 1e-9 a weight of a
linear layer gets the gradient 0 without a scaler and 1e-9 with one.

## Example
```python
with torch.autocast("cuda"):
    loss = model(batch)
loss.backward()
optimizer.step()
```

## Use instead
```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(batch)
loss.backward()
optimizer.step()
```
or, on hardware without bfloat16, float16 with a `torch.amp.GradScaler("cuda")`.

## Fix safety
There is no fix: the choice depends on the hardware.

## References
- Pitfall C04
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html
- https://github.com/pytorch/pytorch/issues/120376
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.rule_api import (
    AutocastCall,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Scope,
    Severity,
    SyntaxTree,
    autocasts,
    callee_name,
    dotted,
    own_nodes,
    qualified,
    records_no_gradients,
    region_of,
    syntax_tree,
)

RULE = Rule(
    code="MP215",
    name="float16-without-loss-scaling",
    summary="training under float16 autocast without a GradScaler",
    severity=Severity.WARNING,
    since="0.1.0",
    triggers=((b"autocast",), (b".backward(",), (b".step(",)),
    pitfalls=("C04",),
)

_SCALING = re.compile(
    r"scaler|scale_loss|loss_scal|deepspeed|accelerat|fabric|lightning|set_autocast", re.IGNORECASE
)
_OPTIMIZER = re.compile(r"(?i)(?:^|[._])(?:opt|\w*optim(?:izer)?\w*)$")
_FLOAT16 = frozenset({"torch.float16", "torch.half"})


def check_source(file: PythonFile) -> Iterator[Finding]:
    if _SCALING.search(file.text.text) or file.project.is_test(file.text.path):
        return
    syntax = syntax_tree(file)
    trained: dict[ast.AST, ast.Call] = {}
    for made in autocasts(syntax):
        if not _is_float16(made, syntax) or region_of(made, syntax) is None:
            continue
        if records_no_gradients(made.node, syntax):
            continue  # the backbone is frozen, and what is trained runs outside
        function = syntax.function(made.node) or syntax.tree
        backward = _training(function)
        if backward is None or function in trained:
            continue
        trained[function] = backward
        yield file.finding(
            RULE,
            file.span_of(made.node),
            "training under float16 autocast without loss scaling",
            confidence=Confidence.MEDIUM,
            why="Gradients below 6e-8 become zero in float16; bfloat16 needs no scaler.",
            related=[file.related(file.span_of(backward), "the loss is not scaled")],
        )


def _is_float16(made: AutocastCall, syntax: SyntaxTree) -> bool:
    """True for a region on CUDA in float16, given or by default; nothing unseen may decide it."""
    if made.is_off or made.has_stars or made.device != "cuda":
        return False
    dtype = made.argument("dtype")
    return dtype is None or qualified(dtype, syntax.names) in _FLOAT16


def _training(function: ast.AST) -> ast.Call | None:
    """The backward call of a function that also steps an optimizer."""
    assert isinstance(function, Scope)
    calls = [node for node in own_nodes(function) if isinstance(node, ast.Call)]
    steps = any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "step"
        and _OPTIMIZER.search(dotted(call.func.value) or "")
        for call in calls
    )
    backward = [call for call in calls if callee_name(call) == "backward" and not call.args]
    return min(backward, key=lambda call: call.lineno, default=None) if steps else None
