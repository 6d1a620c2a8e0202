"""A closure that is handed to `GradScaler.step`, or an LBFGS without one.

## What it does
Finds `scaler.step(optimizer, closure=…)` of a torch GradScaler that the file makes and leaves on,
and `scaler.step(optimizer)` and `scaler.step(optimizer, closure)` where the file makes the
optimizer with `torch.optim.LBFGS`.

Not reported: scalers with `enabled=False`, scalers of another file, calls in `try:`.

## Why it hurts
`RuntimeError: Closure use is not currently supported if GradScaler is enabled.` (every torch up to
2.13). LBFGS takes no step without a closure: `TypeError: LBFGS.step() missing 1 required positional
argument: 'closure'`. A closure by position gets past the check, and LBFGS evaluates it several
times in one step: the scaler has unscaled the first gradients only, and all others are multiplied
by 65536. A scaler with `enabled=use_amp` fails in the runs that use AMP.

## Example
```python
optimizer = torch.optim.LBFGS(model.parameters())
scaler = torch.amp.GradScaler("cuda")
scaler.step(optimizer, closure=closure)
```

## Use instead
```python
optimizer = torch.optim.LBFGS(model.parameters())
optimizer.step(closure)  # without a scaler: in bfloat16 or float32
```

## Fix safety
There is no fix: the closure scales the loss, and training needs another precision or optimizer.

## References
- Pitfall B11
- https://github.com/pytorch/pytorch/issues/26512
- https://github.com/skorch-dev/skorch/issues/826
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    SyntaxTree,
    dotted,
    makes_grad_scaler,
    qualified,
    scalers_made,
    syntax_tree,
)

RULE = Rule(
    code="MP224",
    name="closure-with-grad-scaler",
    summary="a closure, or an optimizer that needs one, in `GradScaler.step`",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16",),
    triggers=((b"GradScaler(",), (b"closure", b"LBFGS("), (b".step(",)),
    pitfalls=("B11",),
)

_CLOSURE = "closure"


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    scalers = scalers_made(file)
    for call in syntax.calls("step"):
        name = dotted(getattr(call.func, "value", call.func)) or ""
        scaler = scalers.get(name) if _is_always_torchs(name, syntax) else None
        found = _problem(call, syntax)
        if scaler is None or found is None or syntax.may_fail_on_purpose(call):
            continue
        yield file.finding(
            RULE,
            file.span_of(call),
            found.message,
            confidence=Confidence.MEDIUM if _is_optional(scaler) else Confidence.HIGH,
            why=found.why,
            related=[file.related(file.span_of(scaler), "the scaler is made here")],
        )


def _is_always_torchs(name: str, syntax: SyntaxTree) -> bool:
    """True if nothing but a scaler of torch is assigned to a name."""
    return all(
        isinstance(node.value, ast.Call)
        and makes_grad_scaler(qualified(node.value.func, syntax.names))
        for node in syntax.nodes
        if isinstance(node, ast.Assign) and any(dotted(each) == name for each in node.targets)
    )


def _is_optional(scaler: ast.Call) -> bool:
    return bool(scaler.keywords) and not isinstance(_enabled(scaler), ast.Constant | None)


def _enabled(scaler: ast.Call) -> ast.expr | None:
    return next((each.value for each in scaler.keywords if each.arg in {"enabled", None}), None)


class _Problem(NamedTuple):
    message: str
    why: str


_REFUSED = _Problem(
    "`GradScaler.step` does not accept a closure",
    "RuntimeError: Closure use is not currently supported if GradScaler is enabled.",
)
_MISSING = _Problem(
    "`LBFGS.step` needs a closure, which `GradScaler.step` does not accept",
    "TypeError: LBFGS.step() missing 1 required positional argument: 'closure'",
)
_SCALED = _Problem(
    "LBFGS evaluates the closure again in its step, and those gradients stay scaled",
    "The closure scales each loss that it computes, but the scaler unscales only once.",
)


def _problem(call: ast.Call, syntax: SyntaxTree) -> _Problem | None:
    """What is wrong with a step."""
    if any(keyword.arg == _CLOSURE for keyword in call.keywords):
        return _REFUSED
    if not call.args or call.keywords or not _is_lbfgs(call.args[0], syntax):
        return None
    return _MISSING if len(call.args) == 1 else _SCALED


def _is_lbfgs(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for a name that the file assigns LBFGS and nothing else."""
    name = dotted(node)
    made = [
        each.value
        for each in syntax.nodes
        if isinstance(each, ast.Assign) and any(dotted(target) == name for target in each.targets)
    ]
    return bool(made) and all(
        isinstance(value, ast.Call)
        and qualified(value.func, syntax.names) in {"torch.optim.LBFGS", "torch.optim.lbfgs.LBFGS"}
        for value in made
    )
