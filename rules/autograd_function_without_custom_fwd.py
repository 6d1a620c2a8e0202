"""A custom `autograd.Function` that multiplies half precision with float32 in backward.

## What it does
Finds subclasses of `torch.autograd.Function` that multiply two of their inputs in `forward`, save
one of them, and multiply it with the gradient in `backward`, without `torch.amp.custom_fwd` and
`custom_bwd` and without their own cast. If the file does not mention autocast, confidence is low,
and the finding is hidden by default.

## Why it hurts
Autocast is on in `forward`: the product is in half precision, and so is the incoming gradient. The
saved tensor is the float32 input, and autocast is off in `backward`: `expected m1 and m2 to have
the same dtype, but got: c10::BFloat16 != float`.

## Example
```python
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad @ w.t(), x.t() @ grad
```

## Use instead
```python
class Product(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad @ w.t(), x.t() @ grad
```

## Fix safety
Shown only: the decorators need one device type, which the class does not specify.

## References
- Pitfall C07
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html
- https://github.com/pytorch/pytorch/issues/38487
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers import statements
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    SyntaxTree,
    dotted,
    multiplied,
    qualified,
    regex,
    regions_around,
    syntax_tree,
)

RULE = Rule(
    code="MP219",
    name="autograd-function-without-custom-fwd",
    summary="a custom autograd.Function that autocast breaks in its backward",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="display",
    triggers=((b"save_for_backward",), (b"Function",)),
    pitfalls=("C07",),
)

_CASTS = regex(r"autocast|custom_fwd|dtype|\.(?:to|type|type_as|half|float|bfloat16)\(")
_VIEWS = frozenset({"t", "transpose", "permute", "view", "reshape", "contiguous", "flatten"})


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    for node in file.nodes:
        if isinstance(node, ast.ClassDef) and _is_function(node, syntax):
            yield from _check_class(node, file, syntax)


def _check_class(node: ast.ClassDef, file: PythonFile, syntax: SyntaxTree) -> Iterator[Finding]:
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None or len(backward.args.args) < 2:
        return
    if _CASTS.search(file.text[file.span_of(node)]) or len(forward.decorator_list) > 1:
        return
    if _runs_without_autocast(node.name, file, syntax):
        return
    # Elsewhere the weights may be half themselves, as libraries for large models have it.
    is_autocast = "autocast" in file.text.text
    inputs = {argument.arg for argument in forward.args.args[1:]}
    product = next((each for each in ast.walk(forward) if _is_product(each, inputs, syntax)), None)
    if product is None:
        return
    context = forward.args.args[0].arg
    saved = _unpacked(backward, _saved(forward, context), inputs)
    gradient = backward.args.args[1].arg
    for each in ast.walk(backward):
        names = {_root(operand) for operand in multiplied(each, syntax)}
        if gradient in names and names & saved:
            assert isinstance(each, ast.expr)
            assert isinstance(product, ast.expr)
            yield file.finding(
                RULE,
                file.span_of(each),
                f"autocast makes `{gradient}` half precision, but `forward` saved float32",
                confidence=Confidence.MEDIUM if is_autocast else Confidence.LOW,
                why="torch raises `expected m1 and m2 to have the same dtype`.",
                fix=_fix(forward, backward, file, syntax),
                related=[
                    file.related(file.span_of(product), "autocast runs this in half precision")
                ],
            )
            return


def _is_function(node: ast.ClassDef, syntax: SyntaxTree) -> bool:
    return any(
        qualified(base, syntax.names)
        in {"torch.autograd.Function", "torch.autograd.function.Function"}
        for base in node.bases
    )


def _runs_without_autocast(name: str, file: PythonFile, syntax: SyntaxTree) -> bool:
    """True if the file applies a function only where it has switched autocast off."""
    applied = [
        next(regions_around(node, syntax), None)
        for node in file.nodes
        if isinstance(node, ast.Call) and dotted(node.func) == f"{name}.apply"
    ]
    return bool(applied) and all(
        region is not None
        and isinstance(enabled := region.argument("enabled"), ast.Constant)
        and not enabled.value
        for region in applied
    )


def _is_product(node: ast.AST, inputs: set[str], syntax: SyntaxTree) -> bool:
    """True for a product of two of the inputs."""
    return len({_root(operand) for operand in multiplied(node, syntax)} & inputs) > 1


def _saved(forward: ast.FunctionDef, context: str) -> list[str]:
    """The names of what is saved for the backward, in order; "" where it is no name."""
    for node in ast.walk(forward):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="save_for_backward"), args=args
            ) if name == context:
                return [each.id if isinstance(each, ast.Name) else "" for each in args]
    return []


def _unpacked(backward: ast.FunctionDef, saved: list[str], inputs: set[str]) -> set[str]:
    """What the backward calls the inputs that were saved as they came."""
    found: set[str] = set()
    for node in ast.walk(backward):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)],
                value=ast.Attribute(attr="saved_tensors"),
            ) if len(targets) == len(saved):
                found |= {
                    target.id
                    for target, name in zip(targets, saved, strict=True)
                    if isinstance(target, ast.Name) and name in inputs
                }
    return found


def _root(node: ast.expr) -> str:
    """`w` of `w`, `w.t()`, `w.T`, `w.transpose(0, 1)`; "" for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr="T" | "mT"):
            return _root(owner)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _VIEWS:
            return _root(owner)
    return ""


def _fix(
    forward: ast.FunctionDef, backward: ast.FunctionDef, file: PythonFile, syntax: SyntaxTree
) -> Fix | None:
    if syntax.names.get("torch") != "torch":
        return None
    edits = [
        statements.insert_before(file, method, f'@torch.amp.{decorator}(device_type="cuda")')
        for method, decorator in ((forward, "custom_fwd"), (backward, "custom_bwd"))
    ]
    message = "Run the backward under the autocast of the forward, for your device type"
    known = [edit for edit in edits if edit is not None]
    return Fix(Applicability.DISPLAY, message, tuple(known)) if len(known) == 2 else None
