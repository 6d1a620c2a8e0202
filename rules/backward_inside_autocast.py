"""A backward pass or an optimizer step under autocast.

## What it does
Finds `loss.backward()` and `optimizer.step()` inside an autocast region. On its own this is a
low-confidence finding, which is hidden by default. It is an error if one region contains a whole
training loop: the forward pass, `backward` and `step` in every iteration.

## Why it hurts
Autocast caches the half-precision copies of the weights that it makes, and drops them when the
outermost region exits. In a loop inside the region, every step changes the weights, but the next
forward pass still uses the copies from the first: **the model does not learn, and there is no
error**. With `torch.autocast("cpu", dtype=torch.bfloat16)` around eight steps of a linear
regression, the loss is 9.456 eight times; with the region inside the loop it goes from 9.456 to
0.376.

The documentation advises against `backward` in a region: backward operators run in the dtype of
their forward operators anyway, so autocast only adds cost there, or a different precision in the
backward pass of a custom `autograd.Function`.

## Example
```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    for batch in loader:
        loss = model(batch)
        loss.backward()
        optimizer.step()
```

## Use instead
```python
for batch in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch)
    loss.backward()
    optimizer.step()
```

## Fix safety
There is no fix: only the author knows which statements of a loop belong under autocast, and a
custom backward pass may depend on the region.

## References
- Pitfall C05
- https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
- https://github.com/pytorch/pytorch/issues/120376
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    AutocastCall,
    Confidence,
    Finding,
    Loop,
    PythonFile,
    RegionNode,
    Rule,
    Severity,
    SyntaxTree,
    With,
    autocast_call,
    autocasts,
    callee_name,
    dotted,
    own_nodes,
    regex,
    region_of,
    syntax_tree,
)

RULE = Rule(
    code="MP211",
    name="backward-inside-autocast",
    summary="a backward pass, or a whole training loop, inside an autocast region",
    severity=Severity.INFO,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=((b"autocast",), (b"torch",), (b".backward(",)),
    pitfalls=("C05",),
)


_OPTIMIZER = regex(r"(?i)(?:^|[._])(?:opt|\w*optim(?:izer)?\w*|scaler|grad_scaler)$")


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    reported: set[ast.AST] = set()
    for made in autocasts(syntax):
        region = None if made.is_off else region_of(made, syntax)
        if region is None:
            continue
        calls = [node for node in _calls(region, syntax) if node not in reported]
        reported.update(calls)
        if (step := _step_in_loop(calls, made, syntax)) is not None:
            yield _stale(step, made, file)
        elif first := next((node for node in calls if callee_name(node) == "backward"), None):
            yield _advice(first, made, file)


def _calls(region: RegionNode, syntax: SyntaxTree) -> list[ast.Call]:
    """The calls of `backward` and `step` that a region surrounds, in the order of the source."""
    found = []
    for node in own_nodes(region):
        match node:
            case ast.Call(func=ast.Attribute(attr="backward")):
                found.append(node)
            case ast.Call(func=ast.Attribute(value=owner, attr="step")) if _OPTIMIZER.search(
                dotted(owner) or ""
            ):
                found.append(node)
    within = [node for node in found if not _is_shielded(node, region, syntax)]
    return sorted(within, key=lambda node: (node.lineno, node.col_offset))


def _is_shielded(node: ast.Call, region: RegionNode, syntax: SyntaxTree) -> bool:
    """True if a nested region turns autocast off."""
    for parent in syntax.around(node):
        if parent is region:
            break
        if isinstance(parent, With):
            made = [autocast_call(item.context_expr, syntax) for item in parent.items]
            if any(inner is not None and inner.is_off for inner in made):
                return True
    return False


def _step_in_loop(calls: list[ast.Call], made: AutocastCall, syntax: SyntaxTree) -> ast.Call | None:
    """The step of a training loop that runs inside of the region from its start to its end."""
    if made.argument("cache_enabled") is not None or made.has_stars:
        return None
    region = region_of(made, syntax)
    judged: set[ast.AST] = set()
    for step in calls:
        if callee_name(step) != "step" or _moves_tensors(step, syntax):
            continue
        for loop in syntax.within_function(step):
            if loop is region or loop in judged:
                break
            judged.add(loop)
            if isinstance(loop, Loop) and _trains(loop, calls):
                return step
    return None


def _moves_tensors(step: ast.Call, syntax: SyntaxTree) -> bool:
    """True for an optimizer of listed tensors, such as latents: they are no weights of a module."""
    assert isinstance(step.func, ast.Attribute)
    own = own_nodes(syntax.function(step) or syntax.tree)
    assigned: dict[str, list[ast.expr]] = {}
    for node in own:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                assigned.setdefault(dotted(target) or "", []).append(node.value)
    made = [
        value.args[0]
        for value in assigned.get(dotted(step.func.value) or "", [])
        if isinstance(value, ast.Call) and value.args
    ]
    given = [one for each in made for one in assigned.get(dotted(each) or "", [each])]
    return bool(given) and all(
        isinstance(each, ast.List) and all(map(dotted, each.elts)) for each in given
    )


def _trains(loop: Loop, calls: list[ast.Call]) -> bool:
    """Whether each pass computes a loss, and goes backward from it."""
    nodes = set(own_nodes(loop))
    computed = _computed(nodes)
    return any(call in nodes and _starts(call) & computed for call in calls) and not any(
        isinstance(node, ast.Call) and callee_name(node) == "clear_autocast_cache" for node in nodes
    )


def _computed(nodes: set[ast.AST]) -> set[str]:
    """The names that are assigned what a call returns: the losses of a loop, if any."""
    return {
        name.id
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        and node.value is not None
        and any(isinstance(each, ast.Call) for each in ast.walk(node.value))
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }


def _starts(call: ast.Call) -> set[str]:
    """The names that `backward` starts from: `loss` in `scaler.scale(loss / 4).backward()`."""
    if callee_name(call) != "backward":
        return set()
    return {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}


def _stale(step: ast.Call, made: AutocastCall, file: PythonFile) -> Finding:
    return file.finding(
        RULE,
        file.span_of(step),
        "the next forward pass does not see the new weights: the loop runs inside one autocast "
        "region",
        severity=Severity.ERROR,
        confidence=Confidence.MEDIUM,
        why="Autocast caches half-precision copies of the weights until the outermost region "
        "exits. Enter the region inside the loop, around the forward pass and the loss.",
        related=[file.related(file.span_of(made.node), "the region is entered here, once")],
    )


def _advice(call: ast.Call, made: AutocastCall, file: PythonFile) -> Finding:
    return file.finding(
        RULE,
        file.span_of(call),
        "`backward` runs inside the autocast region",
        confidence=Confidence.LOW,
        why="Backward operators run in the dtype of their forward operators anyway; only custom "
        "backward passes change. Call `backward` after the region.",
        related=[file.related(file.span_of(made.node), "the autocast region")],
    )
