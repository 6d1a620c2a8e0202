"""An autocast context that is never entered.

## What it does
Finds an autocast context that is created and never entered: a bare `torch.autocast(...)` statement,
the bare call of a function or method of the project that does nothing but return one, a variable
that holds one and is not read again, a `yield torch.autocast(...)` in a function under
`@contextmanager`, and `with a and b:`, which enters only one of the two. A context that is
returned, passed on, stored in an attribute or given to an `ExitStack` may be entered elsewhere and
is not reported. Nor is a `no_grad` or `inference_mode` that is not entered, where the code around
it is under one, or where all that the block calls are functions of the project that have a
`no_grad` of their own, or call `backward`.

## Why it hurts
Creating a context does nothing; `with` enables it. Everything runs in full precision, slower and
with more memory than planned, without an error or a warning.
`torch.no_grad() and torch.autocast("cuda")` is an expression whose value is its last operand:
gradients are recorded during the whole evaluation.

## Example
```python
with torch.no_grad() and torch.autocast("cuda"):
    logits = model(batch)
```

## Use instead
```python
with torch.no_grad(), torch.autocast("cuda"):
    logits = model(batch)
```

## Fix safety
Unsafe: once the context is entered, the code runs in another precision, or without gradients. The
code says so, but did not do so before. There is a fix for `yield` and for `and`; for the other
forms only the author knows where the region should end.

## References
- https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from precision_lint.fixers import blocks
from precision_lint.rule_api import (
    WITHOUT_GRADIENTS,
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Related,
    Rule,
    Severity,
    Span,
    SyntaxTree,
    With,
    autocast_call,
    autocasts,
    callee_name,
    dropped,
    gradients_are_off,
    innermost_name,
    qualified,
    syntax_tree,
)

RULE = Rule(
    code="MP210",
    name="autocast-not-entered",
    summary="an autocast context that is created and never entered",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"autocast",), (b"torch",)),
)

_WHY = "A context has no effect until `with` enters it: this code runs without the context."
_CONTEXTS = frozenset(
    {
        "torch.no_grad",
        "torch.enable_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.enable_grad",
        "torch.autograd.inference_mode",
        "torch.autograd.detect_anomaly",
        "torch.nn.attention.sdpa_kernel",
        "torch.backends.cuda.sdp_kernel",
        "torch.cuda.device",
        "torch.cuda.stream",
        "contextlib.nullcontext",
    }
)
"""Calls whose result is a context, and never false; `set_grad_enabled` acts when it is called."""


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    for made in autocasts(syntax):
        match parent := _user(made.node, syntax):
            case ast.Expr() if not syntax.may_fail_on_purpose(parent):
                message = "this autocast context is created but never entered"
                yield _finding(file, made.node, message)
            case ast.Yield():
                yield from _yielded(parent, file, syntax)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield from _assigned(parent, name, file, syntax)
    for call, context in dropped(file):
        if not syntax.may_fail_on_purpose(call):
            message = "this call makes an autocast context that is never entered"
            yield _finding(file, call, message, related=(context,))
    for node in file.nodes:
        match node:
            case ast.withitem(context_expr=ast.BoolOp() as choice):
                yield from _chosen(choice, file, syntax)


def _user(node: ast.expr, syntax: SyntaxTree) -> ast.AST | None:
    """The user of a context: `a if b else c` passes the chosen value on."""
    inner: ast.AST = node
    for parent in syntax.around(node):
        if not isinstance(parent, ast.IfExp) or inner is parent.test:
            return parent
        inner = parent
    return None


def _finding(
    file: PythonFile,
    node: ast.expr,
    message: str,
    fix: Fix | None = None,
    related: tuple[Related, ...] = (),
) -> Finding:
    return file.finding(
        RULE,
        file.span_of(node),
        message,
        confidence=Confidence.HIGH,
        why=_WHY,
        fix=fix,
        related=related,
    )


def _yielded(node: ast.Yield, file: PythonFile, syntax: SyntaxTree) -> Iterator[Finding]:
    """`yield autocast(...)` under `@contextmanager`, unless a caller enters the result."""
    function = syntax.function(node)
    if function is None or isinstance(function, ast.Lambda):
        return
    decorators = [qualified(decorator, syntax.names) for decorator in function.decorator_list]
    if not any(name.endswith("contextmanager") for name in decorators):
        return
    if _binds_the_context_of(function.name, syntax.tree):
        return
    statement = syntax.parent(node)
    edits = blocks.yield_within(file, statement) if isinstance(statement, ast.Expr) else None
    fix = edits and Fix(Applicability.UNSAFE, "Enter the context around `yield`", tuple(edits))
    message = f"`{function.name}` yields an autocast context that it does not enter"
    yield _finding(file, node, message, fix or None)


def _binds_the_context_of(name: str, tree: ast.Module) -> bool:
    """True if the file contains `with name() as context:`: it may enter that context next."""
    return any(
        isinstance(node, ast.withitem)
        and node.optional_vars is not None
        and isinstance(node.context_expr, ast.Call)
        and callee_name(node.context_expr) == name
        for node in ast.walk(tree)
    )


def _assigned(
    statement: ast.Assign | ast.AnnAssign, name: str, file: PythonFile, syntax: SyntaxTree
) -> Iterator[Finding]:
    """A local variable that nothing reads, or that a context manager only yields."""
    function = syntax.function(statement)
    if function is None or syntax.may_fail_on_purpose(statement):
        return
    reads = syntax.reads(function, name)
    users = [syntax.parent(node) for node in reads]
    if not reads and not syntax.reads(function, "locals"):
        assert statement.value is not None
        message = f"`{name}` holds an autocast context that is never entered"
        yield _finding(file, statement.value, message)
    elif len(users) == 1 and isinstance(user := users[0], ast.Yield):
        yield from _yielded(user, file, syntax)


def _chosen(choice: ast.BoolOp, file: PythonFile, syntax: SyntaxTree) -> Iterator[Finding]:
    """`with a and b:` enters `b` alone, `with a or b:` enters `a` alone."""
    made = [list(_makers(operand, syntax)) for operand in choice.values]
    if not any(autocast_call(call, syntax) for calls in made for call in calls):
        return
    contexts = [
        operand
        for operand, calls in zip(choice.values, made, strict=True)
        if any(_is_context(call, syntax) for call in calls)
    ]
    is_and = isinstance(choice.op, ast.And)
    lost = [node for node in contexts if node is not choice.values[-1 if is_and else 0]]
    if not lost or (not is_and and choice.values[0] not in contexts):
        return
    if all(innermost_name(node) in WITHOUT_GRADIENTS for node in lost):
        block = next(each for each in syntax.around(choice) if isinstance(each, With))
        if gradients_are_off(block, file):
            return
    texts = " and ".join(f"`{file.text[file.span_of(node)]}`" for node in lost)
    operator, which = ("and", "last") if is_and else ("or", "first")
    yield _finding(
        file,
        choice,
        f"{texts} {'is' if len(lost) == 1 else 'are'} never entered: "
        f"`{operator}` gives `with` only its {which} operand",
        _enter_all(choice, file) if len(contexts) == len(choice.values) else None,
    )


def _makers(node: ast.expr, syntax: SyntaxTree) -> Iterator[ast.Call]:
    """The calls whose result an operand can be: its own, or those assigned to its name."""
    yield from _chosen_calls(node)
    function = syntax.function(node)
    if isinstance(node, ast.Name) and function is not None:
        for each in ast.walk(function):
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == node.id:
                    yield from _chosen_calls(value)


def _chosen_calls(node: ast.expr) -> Iterator[ast.Call]:
    """A call, or those that a conditional expression chooses from."""
    match node:
        case ast.Call():
            yield node
        case ast.IfExp(body=body, orelse=orelse):
            yield from _chosen_calls(body)
            yield from _chosen_calls(orelse)


def _is_context(node: ast.Call, syntax: SyntaxTree) -> bool:
    # Methods that make contexts: `accelerator.autocast()`, `model.no_sync()`.
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr in {"autocast", "no_sync"}
    name = qualified(node.func, syntax.names)
    return is_method or name in _CONTEXTS or autocast_call(node, syntax) is not None


def _enter_all(choice: ast.BoolOp, file: PythonFile) -> Fix | None:
    """`with a and b:` to `with a, b:`."""
    spans = [file.span_of(node) for node in choice.values]
    gaps = [Span(left.end, right.start) for left, right in pairwise(spans)]
    after = file.text.text[spans[-1].end :].lstrip()
    operator = "and" if isinstance(choice.op, ast.And) else "or"
    # Around all operands, parentheses would make a tuple of them before Python 3.9.
    if after.startswith(")") or any(file.text[gap] != f" {operator} " for gap in gaps):
        return None
    edits = tuple(Edit(gap, ", ") for gap in gaps)
    return Fix(Applicability.UNSAFE, "Enter all of them", edits)
