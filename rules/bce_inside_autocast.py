"""Binary cross entropy on probabilities under CUDA autocast.

## What it does
Finds `F.binary_cross_entropy` and calls of an `nn.BCELoss` in an autocast region for CUDA. The
region may contain the call, decorate its function, or contain a call of its function in the same
file; an object of the file's class (`model = Model().cuda()`) calls `forward`. Regions for CPU and
disabled regions are fine. Confidence is medium if the device type is computed
(`torch.autocast(x.device.type)`), if a setting enables the region, or if a caller opens it.

## Why it hurts
CUDA autocast rejects the operator, whatever the dtype of its inputs; `.float()` does not help:
`RuntimeError: torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to
autocast.` Its gradient overflows in float16 for a probability near 0 or 1. The same code runs on
CPU, where autocast computes it in float32, so tests on a machine without a GPU pass.

## Example
```python
with torch.autocast("cuda"):
    loss = F.binary_cross_entropy(torch.sigmoid(model(x)), target)
```

## Use instead
```python
with torch.autocast("cuda"):
    loss = F.binary_cross_entropy_with_logits(model(x), target)
```
If you only have probabilities, compute the loss in float32 after the region, or in a
`torch.autocast("cuda", enabled=False)` inside it, with `.float()` on the probabilities.

## Fix safety
Unsafe, and only if the sigmoid is in the call itself. Logits give the same loss, except that
`binary_cross_entropy` clamps it at 100 for each element; and the line may also run outside
autocast.

## References
- Pitfall C06
- https://github.com/pytorch/pytorch/issues/61098
- https://github.com/Megvii-BaseDetection/YOLOX/issues/336
- https://docs.pytorch.org/docs/stable/amp.html#prefer-binary-cross-entropy-with-logits-over-binary-cross-entropy
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    Applicability,
    AutocastCall,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Span,
    SyntaxTree,
    attribute,
    autocasts,
    binding,
    enclosing_class,
    last_name,
    qualified,
    regex,
    regions_around,
    syntax_tree,
)

RULE = Rule(
    code="MP212",
    name="bce-inside-autocast",
    summary="binary cross entropy of probabilities under CUDA autocast",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"autocast",), (b"torch",), (b"binary_cross_entropy", b"BCELoss")),
    pitfalls=("C06",),
)

_FUNCTION = "torch.nn.functional.binary_cross_entropy"
_MODULES = frozenset({"torch.nn.BCELoss", "torch.nn.modules.loss.BCELoss"})
_SIGMOIDS = frozenset({"torch.sigmoid", "torch.special.expit", "torch.nn.functional.sigmoid"})
_MOST_CALLERS = 8
_ABOUT_PRECISION = regex(r"(?i)amp\b|autocast|half|fp16|bf16|float16|precision|mixed")


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    if not autocasts(syntax):
        return
    holders = _holders(syntax)
    for node in file.nodes:
        if not isinstance(node, ast.Call) or not _is_loss(node, holders, syntax):
            continue
        if (region := _region(node, syntax) or _region_of_callers(node, syntax)) is None:
            continue
        is_here = region in regions_around(node, syntax)
        if region.is_off or _is_guarded(node, region, file, syntax):
            continue
        yield file.finding(
            RULE,
            file.span_of(node),
            f"`{file.text[file.span_of(node.func)]}` raises under CUDA autocast",
            confidence=Confidence.HIGH if is_here and _is_on(region) else Confidence.MEDIUM,
            why="RuntimeError: torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are "
            "unsafe to autocast. The same code runs on CPU. Compute the loss from logits.",
            fix=_with_logits(node, file, syntax),
            related=[file.related(file.span_of(region.node), "the autocast region")],
        )


def _holders(syntax: SyntaxTree) -> frozenset[str]:
    """The names of variables and attributes that are assigned a `BCELoss` somewhere."""
    return frozenset(
        name
        for node in syntax.nodes
        if isinstance(node, ast.Assign) and _makes_loss(node.value, syntax)
        for target in node.targets
        if (name := last_name(target))
    )


def _is_loss(node: ast.Call, holders: frozenset[str], syntax: SyntaxTree) -> bool:
    """`F.binary_cross_entropy(…)`, `nn.BCELoss()(…)`, or a variable that holds a `BCELoss`."""
    if qualified(node.func, syntax.names) == _FUNCTION:
        return True
    if isinstance(node.func, ast.Call):
        return _makes_loss(node.func, syntax)
    if last_name(node.func) not in holders:
        return False
    match node.func:
        case ast.Name():
            values = binding(node.func, syntax)
        case ast.Attribute(value=ast.Name(id="self")) if owner := enclosing_class(node, syntax):
            values = attribute(node.func, owner, syntax)
        case _:
            return False
    return isinstance(values, list) and bool(values) and all(_makes_loss(v, syntax) for v in values)


def _makes_loss(value: ast.expr, syntax: SyntaxTree) -> bool:
    """`nn.BCELoss()`, moved to a device or not."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="to" | "cuda")):
            return _makes_loss(made, syntax)
        case ast.Call():
            return qualified(value.func, syntax.names) in _MODULES
    return False


def _region(node: ast.Call, syntax: SyntaxTree) -> AutocastCall | None:
    """The innermost autocast context around a call that may be one for CUDA, on or off."""
    return next(
        (made for made in regions_around(node, syntax) if made.device in {"cuda", None}), None
    )


def _region_of_callers(node: ast.Call, syntax: SyntaxTree) -> AutocastCall | None:
    """An enabled region around a call, in this file, of the function that contains a node."""
    pending = [syntax.function(node)]
    for function in pending:  # which grows: callers have callers
        if not isinstance(function, ast.FunctionDef):
            continue
        for caller in _callers(function, syntax):
            region = _region(caller, syntax)
            if region is not None and not region.is_off:
                return region
            outer = syntax.function(caller)
            if region is None and outer not in pending and len(pending) < _MOST_CALLERS:
                pending.append(outer)
    return None


def _callers(function: ast.FunctionDef, syntax: SyntaxTree) -> Iterator[ast.Call]:
    """The calls of a function in its file; those of objects of a class call its `forward`."""
    yield from (call for call in syntax.calls(function.name) if _calls(call, function, syntax))
    owner = syntax.parent(function)
    if function.name == "forward" and isinstance(owner, ast.ClassDef):
        for node in syntax.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                made = binding(node.func, syntax)
                if isinstance(made, list) and made and all(_makes(one, owner) for one in made):
                    yield node


def _makes(value: ast.expr, owner: ast.ClassDef) -> bool:
    """`Model()`, moved or not: `Model().cuda().train()`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and (value.func.id == owner.name)
    )


def _calls(node: ast.Call, function: ast.FunctionDef, syntax: SyntaxTree) -> bool:
    """Whether a call is of a function of this file: `name(…)`, or `self.name(…)` in its class."""
    owner = syntax.parent(function)
    match node.func:
        case ast.Name(id=function.name):
            return not isinstance(owner, ast.ClassDef)
        case ast.Attribute(value=ast.Name(id="self"), attr=function.name):
            return enclosing_class(node, syntax) is owner
    return False


def _is_on(region: AutocastCall) -> bool:
    """Whether a region is one for CUDA, and on, in every run."""
    match region.argument("enabled"):
        case None | ast.Constant(value=True):
            return region.device == "cuda" and not region.has_stars
    return False


def _is_guarded(node: ast.Call, region: AutocastCall, file: PythonFile, syntax: SyntaxTree) -> bool:
    """Whether a condition about precision, inside the region, decides if the call runs."""
    inner: ast.AST = node
    for parent in syntax.within_function(node):
        match parent:
            case ast.With(items=items) if any(each.context_expr is region.node for each in items):
                return False
            case ast.If(test=test) | ast.IfExp(test=test) if inner is not test:
                if _ABOUT_PRECISION.search(file.text[file.span_of(test)]):
                    return True
        inner = parent
    return False


def _with_logits(node: ast.Call, file: PythonFile, syntax: SyntaxTree) -> Fix | None:
    """`F.binary_cross_entropy(torch.sigmoid(x), y)` to `…_with_logits(x, y)`."""
    if not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    if qualified(node.func, syntax.names) != _FUNCTION:
        return None
    logits = _of_sigmoid(node.args[0], syntax)
    if logits is None:
        return None
    name = file.span_of(node.func)
    probabilities, inside = file.span_of(node.args[0]), file.span_of(logits)
    around = (Span(probabilities.start, inside.start), Span(inside.end, probabilities.end))
    if any("#" in file.text[span] for span in around):
        return None
    edits = (
        Edit(Span(name.end, name.end), "_with_logits"),
        *(Edit(span, "") for span in around if file.text[span]),
    )
    return Fix(Applicability.UNSAFE, "Compute the loss from logits", edits)


def _of_sigmoid(node: ast.expr, syntax: SyntaxTree) -> ast.expr | None:
    """`x` in `torch.sigmoid(x)` and `x.sigmoid()`."""
    match node:
        case ast.Call(func=func, args=[logits], keywords=[]) if qualified(
            func, syntax.names
        ) in _SIGMOIDS and not isinstance(logits, ast.Starred | ast.GeneratorExp):
            return logits
        case ast.Call(
            func=ast.Attribute(
                value=ast.Name() | ast.Attribute() | ast.Call() as x, attr="sigmoid"
            ),
            args=[],
            keywords=[],
        ):
            return x
    return None
