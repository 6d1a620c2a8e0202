"""Weights that change between two uses inside one autocast region.

## What it does
Finds, inside one autocast region, a module that is called, then changed in place, then called
again. The change is the step of an optimizer that was created for its parameters
(`d_optimizer.step()` between the two halves of a GAN's training step), or
`module.load_state_dict(…)`.

Whole training loops inside one region are covered by `backward-inside-autocast`. Not reported:
regions with `cache_enabled=False`, a `torch.clear_autocast_cache()` between change and use, modules
whose parameters are frozen with `requires_grad_(False)` or cast to half precision, and optimizers
that are not created for the module in the same file.

## Why it hurts
Autocast caches the half-precision copies of float32 weights and drops them when the outermost
region exits; an inner `with torch.autocast(…)` does not clear the cache. An in-place change does
not update the copy: **the second call computes with the old weights, and there is no error**. With
`torch.autocast("cpu", dtype=torch.bfloat16)`, a linear layer whose weights go from 1 to 9 between
two calls returns the same output twice.

## Example
```python
d_optimizer = torch.optim.Adam(discriminator.parameters())
with torch.autocast("cuda", dtype=torch.bfloat16):
    d_loss = hinge(discriminator(real), discriminator(fake.detach()))
    d_loss.backward()
    d_optimizer.step()
    g_loss = -discriminator(fake).mean()
```

## Use instead
```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    d_loss = hinge(discriminator(real), discriminator(fake.detach()))
d_loss.backward()
d_optimizer.step()
with torch.autocast("cuda", dtype=torch.bfloat16):
    g_loss = -discriminator(fake).mean()
```

## Fix safety
There is no fix: only the author can decide where the region ends.

## References
- Pitfall C05
- https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    AutocastCall,
    Confidence,
    Finding,
    PythonFile,
    RegionNode,
    Rule,
    Severity,
    SyntaxTree,
    autocasts,
    callee_name,
    dotted,
    follows,
    is_on,
    keeps_copies,
    optimized,
    own_nodes,
    position,
    region_of,
    syntax_tree,
    without_copies,
)

RULE = Rule(
    code="MP214",
    name="stale-autocast-cache",
    summary="weights that change between two uses inside one autocast region",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=((b"autocast",), (b"torch",), (b".step(", b".load_state_dict(")),
    pitfalls=("C05",),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    reported: set[ast.Call] = set()
    for made in autocasts(syntax):
        if (region := region_of(made, syntax)) is None or not keeps_copies(made):
            continue
        calls = [node for node in own_nodes(region) if isinstance(node, ast.Call)]
        calls.sort(key=position)
        if any(callee_name(call) == "clear_autocast_cache" for call in calls):
            continue
        if _is_inference(region, syntax):
            continue
        for change in calls:
            for module in sorted(_changed(change, file)):
                stale = _stale_use(module, change, calls, syntax)
                if stale is not None and stale not in reported:
                    reported.add(stale)
                    yield _finding(module, change, stale, made, file)


def _finding(
    module: str, change: ast.Call, stale: ast.Call, made: AutocastCall, file: PythonFile
) -> Finding:
    return file.finding(
        RULE,
        file.span_of(stale),
        f"`{module}` uses the weights from before the change: autocast has cached "
        "their half-precision copies",
        confidence=Confidence.MEDIUM,
        why="The copies are dropped when the outermost region exits. Exit it before the "
        "weights change, and enter a new one.",
        related=[
            file.related(file.span_of(change), "the weights change here"),
            file.related(file.span_of(made.node), "the autocast region"),
        ],
    )


def _is_inference(region: RegionNode, syntax: SyntaxTree) -> bool:
    """Whether `torch.inference_mode()` is on: autocast keeps no copies there."""
    contexts: list[ast.expr] = []
    for parent in (region, *syntax.within_function(region)):
        match parent:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                contexts += [item.context_expr for item in items]
            case ast.FunctionDef(decorator_list=decorators):
                contexts += decorators
    return any(
        isinstance(each, ast.Call) and callee_name(each) == "inference_mode" for each in contexts
    )


def _changed(call: ast.Call, file: PythonFile) -> set[str]:
    """The modules whose weights a call changes in place, by their dotted names."""
    match call:
        case ast.Call(func=ast.Attribute(value=owner, attr="load_state_dict")):
            modules = {dotted(owner)}
        case ast.Call(func=ast.Attribute(value=owner, attr="step"), args=args):
            modules = optimized(file).get(dotted(args[0] if args else owner) or "", set())
        case _:
            return set()
    return {module for module in modules if module} - without_copies(file)


def _stale_use(
    module: str, change: ast.Call, calls: list[ast.Call], syntax: SyntaxTree
) -> ast.Call | None:
    """The first call of a module after a change, if there is also one before the change."""
    uses = [call for call in calls if dotted(call.func) == module and is_on(call, syntax)]
    if not any(follows(change, use, syntax) for use in uses):
        return None
    return next((use for use in uses if follows(use, change, syntax)), None)
