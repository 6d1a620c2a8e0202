"""A checkpoint that contains the optimizer's state but not the scaler's.

## What it does
Finds checkpoints with `optimizer.state_dict()` in a file that creates a `GradScaler`, scales losses
with it, and never calls its `state_dict()`.

## Why it hurts
There is no error. After a resume the loss scale starts at 65536 again, whatever its value was: the
first steps overflow and are skipped while the learning-rate schedule continues, so the resumed run
differs from the interrupted one.

## Example
```python
scaler = torch.amp.GradScaler("cuda")
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
```

## Use instead
```python
scaler = torch.amp.GradScaler("cuda")
state = {
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
    "scaler": scaler.state_dict(),
}
torch.save(state, path)
```
and `scaler.load_state_dict(state["scaler"])` when the run is resumed.

## Fix safety
Shown only: the code that loads the checkpoint has to change too, and old checkpoints have no such
key.

## References
- Pitfall B08
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html
- https://github.com/huggingface/transformers/pull/11663
- https://github.com/ultralytics/ultralytics/pull/22189
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Span,
    dotted,
    scalers_made,
)

RULE = Rule(
    code="MP206",
    name="scaler-state-not-saved",
    summary="a checkpoint without the state of the GradScaler",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16",),
    fix="display",
    triggers=((b"GradScaler(",), (b".scale(",), (b".state_dict()",)),
    pitfalls=("B08",),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    scalers = scalers_made(file)
    if len(scalers) != 1 or _is_kept(file.tree, scalers):
        return
    [scaler] = scalers
    for scope in _living(scaler, file.tree):
        for node in ast.walk(scope):
            match node:
                case ast.Dict(values=values):
                    for value in values:
                        if _is_state_of_optimizer(value):
                            yield _finding(scaler, node, value, file)
                case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
                    for keyword in keywords:
                        if _is_state_of_optimizer(keyword.value):
                            yield _finding(scaler, None, keyword.value, file)


def _living(scaler: str, tree: ast.Module) -> list[ast.AST]:
    """The functions that make a scaler for themselves: it ends with them. Else the whole file."""
    scopes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _assigns(node, scaler)
    ]
    return [
        scope
        for scope in scopes
        if not any(other is not scope and _contains(scope, other) for other in scopes)
    ] or [tree]


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))


def _assigns(function: ast.AST, name: str) -> bool:
    return any(
        isinstance(target, ast.Name) and target.id == name
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def _finding(scaler: str, state: ast.Dict | None, value: ast.expr, file: PythonFile) -> Finding:
    span = file.span_of(value)
    fix = None
    if state is not None:
        edit = Edit(Span(span.end, span.end), f', "scaler": {scaler}.state_dict()')
        message = "Save the state of the scaler too, and load it when the run resumes"
        fix = Fix(Applicability.DISPLAY, message, (edit,))
    return file.finding(
        RULE,
        span,
        f"the checkpoint holds the state of the optimizer, but not that of `{scaler}`",
        confidence=Confidence.MEDIUM,
        why="After a resume the loss scale starts at 65536 again, and the first steps are skipped.",
        fix=fix,
    )


def _is_kept(tree: ast.Module, scalers: Collection[str]) -> bool:
    """True if the state of a scaler is read, or a scaler is passed to code that may read it.

    States that are read in a loop, `{name: each.state_dict() for …}`, may be the scaler's.
    """
    lasts = {scaler.rpartition(".")[2] for scaler in scalers}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="state_dict")):
                if not isinstance(owner, ast.Name | ast.Attribute | ast.Call):
                    return True
                if (dotted(owner) or "").rpartition(".")[2] in lasts:
                    return True
            case ast.Call(args=arguments, keywords=keywords):
                given = [*arguments, *(keyword.value for keyword in keywords)]
                if any(dotted(each) in scalers for each in given):
                    return True
            case ast.Dict(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                if any(dotted(each) in scalers for each in values):
                    return True
            case ast.Return(value=ast.expr() as value) if dotted(value) in scalers:
                return True
    return False


def _is_state_of_optimizer(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="state_dict"), args=[]):
            last = (dotted(owner) or "").rpartition(".")[2]
            return "optim" in last.lower() or last == "opt"
    return False
