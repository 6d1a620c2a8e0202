"""A gradient penalty on scaled gradients.

## What it does
Finds `torch.autograd.grad(scaler.scale(loss), …, create_graph=True)` in a function that also scales
the loss afterwards and never queries the scale: the scaled gradients go into the loss.

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

import ast
import re
from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    SyntaxTree,
    binding,
    dotted,
    own_nodes,
    qualified,
    syntax_tree,
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

_SCALER = re.compile(r"(?i)scaler$")
_SCALE = re.compile(r"(?i)(?:^|_)(?:get_|inv_?)?scales?$")


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    for node in file.nodes:
        if not isinstance(node, ast.Call) or not _is_penalty(node, syntax):
            continue
        within = list(own_nodes(syntax.function(node) or syntax.tree))
        if any(_names_scale(each) for each in within):
            continue
        outputs = _given(node, "outputs") or (node.args[0] if node.args else None)
        if outputs is None or isinstance(outputs, ast.Starred):
            continue
        scaled = _scaled(outputs, syntax)
        if scaled is None or not any(_is_scaled(each) and each is not scaled for each in within):
            continue
        yield file.finding(
            RULE,
            file.span_of(node),
            "these gradients are scaled, and nothing divides them by the scale",
            confidence=Confidence.MEDIUM,
            why="`unscale_` does not change the gradients that `autograd.grad` returns: divide "
            "them by `scaler.get_scale()` before the penalty is computed.",
            related=[file.related(file.span_of(scaled), "scaled here")],
        )


def _is_penalty(node: ast.Call, syntax: SyntaxTree) -> bool:
    """`torch.autograd.grad(…, create_graph=True)`: the gradients become a part of a loss."""
    match _given(node, "create_graph"):
        case ast.Constant(value=True):
            return qualified(node.func, syntax.names) == "torch.autograd.grad"
    return False


def _given(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _names_scale(node: ast.AST) -> bool:
    """`scaler.get_scale()`, `scaler._scale`, `g * inv_scale`."""
    match node:
        case ast.Attribute(attr="get_scale" | "_scale"):
            return True
        case ast.Name(id=name):
            return _SCALE.search(name) is not None
    return False


def _scaled(outputs: ast.expr, syntax: SyntaxTree) -> ast.Call | None:
    """The call of `scaler.scale` that outputs come from, by one variable at most."""
    if isinstance(outputs, ast.List | ast.Tuple) and len(outputs.elts) == 1:
        outputs = outputs.elts[0]
    if isinstance(outputs, ast.Name):
        values = binding(outputs, syntax)
        if not isinstance(values, list) or len(values) != 1:
            return None
        outputs = values[0]
    return outputs if isinstance(outputs, ast.Call) and _is_scaled(outputs) else None


def _is_scaled(node: ast.AST) -> bool:
    """`scaler.scale(loss)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="scale"), args=[_]):
            return _SCALER.search(dotted(owner) or "") is not None
    return False
