"""Weights that autocast caches under `no_grad`, and that a later call of the region trains.

## What it does
Finds, inside one autocast region, a module that is first called under `torch.no_grad()`, also by a
method with `@torch.no_grad()`, and then called again with gradients: the step of a consistency
model, self-conditioning, or a rollout and the loss after it. Reported for projects whose torch is
older than 2.11.

Not reported: regions with `cache_enabled=False`, a region that calls
`torch.clear_autocast_cache()`, `torch.inference_mode()`, a module that is called with gradients
first, modules that are frozen or cast to half precision, and modules for which the file neither
makes an optimizer nor is the class of which they are a part.

## Why it hurts
Up to torch 2.10 autocast keeps the half-precision copy of a float32 weight as the first call made
it. Made under `no_grad`, it has no history, and the second call takes the same copy: **the layers
whose weights autocast casts get no gradient, and there is no error** as long as anything else, such
as a LayerNorm, has one. Run with linear layers on the CPU, this is so with torch 2.9.1 and 2.10.0,
and not with 2.11.0 and 2.13.0, which keep copies with their history (pull request 165068).

## Example
```python
optimizer = torch.optim.AdamW(model.parameters())
with torch.autocast("cuda", dtype=torch.bfloat16):
    with torch.no_grad():
        target = model(x, t_next)
    loss = (model(x, t) - target).square().mean()
loss.backward()
```

## Use instead
```python
optimizer = torch.optim.AdamW(model.parameters())
with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
    target = model(x, t_next)
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = (model(x, t) - target).square().mean()
loss.backward()
```

## Fix safety
There is no fix: a new region for the first call, or `torch.clear_autocast_cache()` after it, both
cost a second cast of the weights.

## References
- Pitfall C13
- https://github.com/pytorch/pytorch/issues/112583
- https://github.com/pytorch/pytorch/pull/165068
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
    RegionNode,
    Rule,
    Severity,
    SyntaxTree,
    autocasts,
    callee_name,
    dotted,
    enclosing_class,
    follows,
    innermost_name,
    is_on,
    keeps_copies,
    last_name,
    optimized,
    own_nodes,
    position,
    qualified,
    records_no_gradients,
    regex,
    region_of,
    syntax_tree,
    without_copies,
)

RULE = Rule(
    code="MP226",
    name="weights-cached-without-grad",
    summary="weights that autocast caches under no_grad, and that a later call trains",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=((b"autocast",), (b"torch",), (b"no_grad",)),
    pitfalls=("C13",),
    preview=True,
)

_REPAIRED = (2, 11)
_CAST = regex(
    r"(?:Linear|Bilinear|Conv\w+|RNN|LSTM|GRU|MultiheadAttention|Transformer\w*)"
    r"|Sequential|Module(?:List|Dict)"
)
"""Layers of torch whose weights autocast casts, and what holds layers."""
_WITHOUT_WEIGHTS = regex(r"loss|criterion|metric", re.IGNORECASE)


def check_source(file: PythonFile) -> Iterator[Finding]:
    version = file.project.version_of("torch")
    if version is None or version >= _REPAIRED:
        return
    syntax = syntax_tree(file)
    for made in autocasts(syntax):
        region = region_of(made, syntax)
        if region is None or not keeps_copies(made):
            continue
        calls = [node for node in own_nodes(region) if isinstance(node, ast.Call)]
        calls.sort(key=position)
        if any(callee_name(call) == "clear_autocast_cache" for call in calls):
            continue
        yield from _in_region(region, made, calls, file)


def _in_region(
    region: RegionNode, made: AutocastCall, calls: list[ast.Call], file: PythonFile
) -> Iterator[Finding]:
    """The first call with gradients of each module that is called without them before."""
    syntax = syntax_tree(file)
    trained = _trained(region, file)
    reported: set[str] = set()
    for first in calls:
        for module in sorted(_called_without_gradients(first, region, syntax) & trained):
            uses = [
                call
                for call in calls
                if _module(call.func) == module
                and not records_no_gradients(call, syntax)
                and is_on(call, syntax)
            ]
            is_kept_before = any(follows(first, use, syntax) for use in uses)
            later = next((use for use in uses if follows(use, first, syntax)), None)
            if later is None or is_kept_before or module in reported:
                continue
            reported.add(module)
            yield file.finding(
                RULE,
                file.span_of(later),
                f"`{module}` is trained with weights that autocast has cached under `no_grad`",
                confidence=Confidence.MEDIUM,
                why="The cached copies have no history, so that its layers get no gradient: "
                "make the call under `no_grad` in an autocast region of its own.",
                related=[
                    file.related(file.span_of(first), "the weights are cast under `no_grad` here"),
                    file.related(file.span_of(made.node), "the autocast region"),
                ],
            )


def _module(callee: ast.expr) -> str:
    """The dotted name of a module that is called, without what DistributedDataParallel adds."""
    return (dotted(callee) or "").removesuffix(".module")


def _trained(region: RegionNode, file: PythonFile) -> set[str]:
    """The modules that an optimizer of the file gets, and the parts of the module around a region,
    but for those without copies that could be cached.
    """
    given = {
        name.removesuffix(".module") for each in optimized(file).values() for name in each if name
    }
    owner = enclosing_class(region, syntax_tree(file))
    if owner is not None and any(last_name(base).endswith("Module") for base in owner.bases):
        given |= {
            f"self.{target.attr}"
            for node in ast.walk(owner)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            for target in node.targets
            if isinstance(target, ast.Attribute) and dotted(target.value) == "self"
            if _has_weights(node.value, target.attr, file)
        }
    return given - {name for name in without_copies(file) if name}


def _has_weights(made: ast.Call, name: str, file: PythonFile) -> bool:
    """True for what a part is made by, if autocast casts its weights: not for a loss."""
    full = qualified(made.func, syntax_tree(file).names)
    if full.startswith("torch.nn."):
        return _CAST.fullmatch(last_name(made.func)) is not None
    return _WITHOUT_WEIGHTS.search(f"{name} {full}") is None


def _called_without_gradients(call: ast.Call, region: RegionNode, syntax: SyntaxTree) -> set[str]:
    """The modules that a call runs under `no_grad`: itself, or in a method of its own object."""
    if not is_on(call, syntax):
        return set()
    if _is_without_gradients(call, region, syntax):
        inside = _calls_of_method(call, syntax)
        return {_module(each.func) for each in (call, *inside)}
    method = _method(call, syntax)
    if method is None or not any(map(_is_no_grad, method.decorator_list)):
        return set()
    return {_module(each.func) for each in _calls_of_method(call, syntax)}


def _calls_of_method(call: ast.Call, syntax: SyntaxTree) -> list[ast.Call]:
    method = _method(call, syntax)
    return [each for each in ast.walk(method) if isinstance(each, ast.Call)] if method else []


def _method(call: ast.Call, syntax: SyntaxTree) -> ast.FunctionDef | None:
    """The method of the same class that `self.method(…)` calls."""
    owner = enclosing_class(call, syntax)
    match call.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if owner is not None:
            methods = (each for each in owner.body if isinstance(each, ast.FunctionDef))
            return next((each for each in methods if each.name == name), None)
    return None


def _is_without_gradients(call: ast.Call, region: RegionNode, syntax: SyntaxTree) -> bool:
    """True under a `with torch.no_grad():` that is inside of the region."""
    for parent in syntax.within_function(call):
        if parent is region:
            return False
        if isinstance(parent, ast.With) and any(
            _is_no_grad(each.context_expr) for each in parent.items
        ):
            return True
    return False


def _is_no_grad(node: ast.expr) -> bool:
    return innermost_name(node) == "no_grad"
