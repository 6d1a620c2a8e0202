"""Half-precision activations in a float32 region nested inside autocast.

## What it does
Finds layers and products inside `torch.autocast(…, enabled=False)` whose input was computed by a
layer or product in the enclosing autocast region and was not cast to float32 in between. Layers are
the `nn.Linear` and convolution modules that `__init__` assigns; for products the other operand is
an `nn.Parameter` of the class. Views and activation functions may be in between.

Not reported: nested regions for another device type, inputs that come from anything other than such
a layer or product, and layers that are created with `dtype=`.

## Why it hurts
The enclosing region produced a half-precision tensor. Autocast is off in the nested region, so no
cast happens there, and the weights are float32: `RuntimeError: mat1 and mat2 must have the same
dtype, but got BFloat16 and Float`. Without autocast, as in most tests, the same code runs.

## Example
```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    hidden = self.encoder(x)
    with torch.autocast("cuda", enabled=False):
        logits = self.head(hidden)
```

## Use instead
```python
with torch.autocast("cuda", dtype=torch.bfloat16):
    hidden = self.encoder(x)
    with torch.autocast("cuda", enabled=False):
        logits = self.head(hidden.float())
```

## Fix safety
Unsafe: `.float()` is right for float32 weights. If the whole model was cast to half precision, the
code runs without `.float()` and would raise with it.

## References
- Pitfall C08
- https://github.com/pytorch/pytorch/issues/38487
- https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers.calls import append_method
from precision_lint.rule_api import (
    Applicability,
    AutocastCall,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    SyntaxTree,
    attribute,
    autocasts,
    binding,
    enclosing_class,
    multiplied,
    qualified,
    regions_around,
    syntax_tree,
)

RULE = Rule(
    code="MP216",
    name="autocast-island-without-upcast",
    summary="half-precision activations in a float32 island inside autocast",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="always",
    triggers=((b"autocast",), (b"torch",), (b"enabled",), (b"False",)),
    pitfalls=("C08",),
)

_LAYERS = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Linear",
        *(f"Conv{dims}d" for dims in (1, 2, 3)),
        *(f"ConvTranspose{dims}d" for dims in (1, 2, 3)),
    )
)
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_KEEPS_DTYPE = frozenset(
    "relu gelu silu sigmoid tanh dropout transpose permute reshape view unsqueeze squeeze flatten "
    "contiguous".split()
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    if not any(made.is_off for made in autocasts(syntax)):
        return
    for node in file.nodes:
        if not isinstance(node, ast.Call | ast.BinOp):
            continue
        inputs = _inputs(node, syntax)
        if not inputs or (outer := _around_island(node, syntax)) is None:
            continue
        if syntax.may_fail_on_purpose(node):
            continue
        for tensor in inputs:
            if (made := _origin(tensor, outer, syntax)) is not None:
                yield _finding(tensor, made, outer, file)


def _finding(tensor: ast.expr, made: ast.expr, outer: AutocastCall, file: PythonFile) -> Finding:
    span = file.span_of(tensor)
    edits = tuple(append_method(file, span, ".float()"))
    return file.finding(
        RULE,
        span,
        f"`{file.text[span]}` is in half precision here, and autocast is off: an operator with "
        "float32 weights raises",
        confidence=Confidence.MEDIUM,
        why="RuntimeError: mat1 and mat2 must have the same dtype. Cast what comes from the "
        "enclosing region with `.float()`.",
        fix=Fix(Applicability.UNSAFE, "Cast to float32 with `.float()`", edits),
        related=[
            file.related(file.span_of(made), "autocast computes it in half precision here"),
            file.related(file.span_of(outer.node), "the enclosing autocast region"),
        ],
    )


def _inputs(node: ast.Call | ast.BinOp, syntax: SyntaxTree) -> list[ast.expr]:
    """The tensors that meet the float32 weights of a layer, or a parameter, in a node."""
    if isinstance(node, ast.Call) and _is_layer(node.func, syntax):
        return node.args[:1]
    tensors = multiplied(node, syntax)
    weights = [each for each in tensors if _is_assigned(each, _PARAMETERS, syntax)]
    return [each for each in tensors if each not in weights] if weights else []


def _around_island(node: ast.expr, syntax: SyntaxTree) -> AutocastCall | None:
    """The enabled region around the island that contains a node; None outside of islands."""
    match list(regions_around(node, syntax)):
        case [island, outer, *_] if island.is_off and not (outer.is_off or outer.has_stars):
            if _device(island) == _device(outer) and not _is_wide(outer, syntax):
                return outer
    return None


def _device(made: AutocastCall) -> str | None:
    """The device type of a region, as far as two can be compared."""
    given = made.argument("device_type") if made.is_generic else None
    return made.device or (None if given is None else ast.dump(given))


def _is_wide(made: AutocastCall, syntax: SyntaxTree) -> bool:
    """True if a region gets a dtype other than float16 and bfloat16, or an unknown one."""
    dtype = made.argument("dtype")
    names = {"torch.bfloat16", "torch.float16", "torch.half"}
    return dtype is not None and qualified(dtype, syntax.names) not in names


def _origin(tensor: ast.expr, outer: AutocastCall, syntax: SyntaxTree) -> ast.expr | None:
    """The layer or product in a region that a tensor comes from without a cast in between."""
    match tensor:
        case ast.Name():
            values = binding(tensor, syntax)
            if isinstance(values, list) and len(values) == 1 and values[0] is not tensor:
                return _origin(values[0], outer, syntax)
            return None
        case ast.Call(func=func) if _is_layer(func, syntax):
            pass
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if (
            name in _KEEPS_DTYPE
        ):
            is_function = qualified(tensor.func, syntax.names).startswith("torch.")
            held = (args[0] if args else None) if is_function else value
            return None if held is None else _origin(held, outer, syntax)
        case _ if not multiplied(tensor, syntax):
            return None
    return tensor if next(regions_around(tensor, syntax), None) == outer else None


def _is_layer(func: ast.expr, syntax: SyntaxTree) -> bool:
    return _is_assigned(func, _LAYERS, syntax)


def _is_assigned(node: ast.expr, makers: frozenset[str], syntax: SyntaxTree) -> bool:
    """Whether `self.name` is made by one of some constructors, without a dtype of its own."""
    match node:
        case ast.Attribute(value=ast.Name(id="self")) if owner := enclosing_class(node, syntax):
            values = attribute(node, owner, syntax)
        case _:
            return False
    return bool(values) and all(
        isinstance(value, ast.Call)
        and qualified(value.func, syntax.names) in makers
        and not any(keyword.arg in {"dtype", None} for keyword in value.keywords)
        for value in values or ()
    )
