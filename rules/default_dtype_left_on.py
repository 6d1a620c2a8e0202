"""A default dtype of half precision that a function leaves on.

## What it does
Finds functions that set torch's default dtype to bfloat16 or float16 for a while: they set it back
later, or keep the old one for that. Reported is what leaves it on: a `return` or `raise` between
the two calls, and an old default that is kept and never set again.

With low confidence, it reports the same where only an exception could come between the two calls,
and functions that set a half dtype and never set it back: that may be meant for the whole program.

Not reported: `try: … finally:` with the second call in `finally`, context managers, and calls at
the top level of a module.

## Why it hurts
Everything that is made after that without a dtype is in half precision. `torch.arange(0, 300.0)`
then has 279 different values instead of 300 in bfloat16 (torch 2.13), and code of others gets
operands that do not fit, `RuntimeError: mat1 and mat2 must have the same dtype, but got Half and
Float`.

## Example
```python
def load(path):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    model = Model()
    if path is None:
        return model
    model.load_state_dict(torch.load(path))
    torch.set_default_dtype(before)
    return model
```

## Use instead
```python
def load(path):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        model = Model()
    finally:
        torch.set_default_dtype(before)
    if path is not None:
        model.load_state_dict(torch.load(path))
    return model
```

## Fix safety
There is no fix: which statements need the half default is not seen.

## References
- Pitfall D13
- https://github.com/meta-pytorch/torchtune/issues/398
- https://github.com/pytorch/ao/pull/2286
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    ALIASES,
    BFLOAT16,
    FLOAT16,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Scope,
    Severity,
    SyntaxTree,
    own_nodes,
    qualified,
    syntax_tree,
)

RULE = Rule(
    code="MP609",
    name="default-dtype-left-on",
    summary="a default dtype of half precision that a function leaves on",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    triggers=((b"set_default_dtype",), (b"bfloat16", b"float16", b"torch.half")),
    pitfalls=("D13",),
)

_SETTER, _GETTER = "torch.set_default_dtype", "torch.get_default_dtype"


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    calls = [each for each in syntax.calls("set_default_dtype") if _is_setter(each, syntax)]
    for call in calls:
        function = syntax.function(call)
        if not _is_half(call, syntax) or function is None or _is_context(function):
            continue
        others = [each for each in calls if syntax.function(each) is function]
        restoring = [one for one in others if one.lineno > call.lineno]
        if any(_is_in_finally(one, syntax) for one in restoring):
            continue
        yield from _left_on(call, restoring, function, file)


def _left_on(
    call: ast.Call, restoring: list[ast.Call], function: Scope, file: PythonFile
) -> Iterator[Finding]:
    """How a function can end with the half default, the clearest way of it."""
    leaving = _leaving(call, restoring, function) if restoring else None
    keeps_old = any(
        isinstance(node, ast.Call) and qualified(node.func, syntax_tree(file).names) == _GETTER
        for node in own_nodes(function)
    )
    confidence, message, related = Confidence.LOW, "it is never set back", []
    if leaving is not None:
        kind = "return" if isinstance(leaving, ast.Return) else "raise"
        confidence, message = Confidence.MEDIUM, f"this `{kind}` comes before it is restored"
        related = [file.related(file.span_of(leaving), message)]
    elif restoring:
        message = "an exception before it is restored leaves it on"
        related = [file.related(file.span_of(restoring[0]), "it is set back here")]
    elif keeps_old:
        confidence, message = Confidence.MEDIUM, "the old one is saved but never restored"
    place = "" if leaving is None else f" (line {leaving.lineno})"
    yield file.finding(
        RULE,
        file.span_of(call),
        f"the default dtype stays in half precision: {message}{place}",
        confidence=confidence,
        why="Every tensor that is created after that without a dtype is in half precision.",
        related=related,
    )


def _is_setter(call: ast.Call, syntax: SyntaxTree) -> bool:
    return qualified(call.func, syntax.names) == _SETTER and bool(call.args)


def _is_half(call: ast.Call, syntax: SyntaxTree) -> bool:
    module, _, name = qualified(call.args[0], syntax.names).rpartition(".")
    return module == "torch" and ALIASES.get(name) in (BFLOAT16, FLOAT16)


def _is_context(function: Scope) -> bool:
    """True for a context manager, whose other half sets it back, and for a fixture."""
    name = getattr(function, "name", "")
    yields = any(isinstance(node, ast.Yield) for node in own_nodes(function))
    return yields or name in ("__enter__", "__exit__", "setUp", "setup_method", "setUpClass")


def _is_in_finally(call: ast.Call, syntax: SyntaxTree) -> bool:
    inner: ast.AST = call
    for parent in syntax.within_function(call):
        if isinstance(parent, ast.Try) and inner in parent.finalbody:
            return True
        inner = parent
    return False


def _leaving(
    call: ast.Call, restoring: list[ast.Call], function: Scope
) -> ast.Return | ast.Raise | None:
    """The first statement that leaves a function between the two calls."""
    rows = range(call.lineno + 1, restoring[0].lineno)
    found = (
        node
        for node in own_nodes(function)
        if isinstance(node, ast.Return | ast.Raise) and node.lineno in rows
    )
    return min(found, key=lambda node: node.lineno, default=None)
