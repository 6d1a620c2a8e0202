"""`optimizer.step()` on scaled gradients, or in addition to `scaler.step(optimizer)`.

## What it does
Finds `optimizer.step()` after `scaler.scale(loss).backward()` without `scaler.step(optimizer)`, and
both kinds of step on one path through a function. A plain step in the branch that trains without
the scaler is fine.

## Why it hurts
The plain step uses gradients that are multiplied by the loss scale, 65536 at first, and does not
skip infinite gradients: the weights jump, or become NaN. A following `scaler.update()` raises
`No inf checks were recorded prior to update.`; without it there is no error. In addition to
`scaler.step`, the optimizer takes every step twice, also without an error.

## Example
```python
scaler.scale(loss).backward()
optimizer.step()
scaler.update()
```

## Use instead
```python
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
```

## Fix safety
Safe if the scaler is updated after the plain step, which becomes `scaler.step(optimizer)`, and if a
plain step directly next to the scaler's step is deleted. If the file never steps through the
scaler, there is no fix. Confidence is medium then if the file makes the scaler and only scales with
it or asks whether it is there (`if self.scaler:`), else low: other code may step it, or `scale` is
meant as a constant factor.

## References
- Pitfall B05
- https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler.step
- https://github.com/IAHispano/Applio/pull/860
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.fixers import statements
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Event,
    EventKind,
    Finding,
    Fix,
    Gradients,
    PythonFile,
    Rule,
    Severity,
    SyntaxTree,
    TrainingStep,
    is_tested,
    scalers_made,
    syntax_tree,
)

RULE = Rule(
    code="MP205",
    name="plain-step-of-scaled-gradients",
    summary="`optimizer.step()` where the gradients are scaled",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16",),
    fix="sometimes",
    triggers=((b".scale(", b"scaler", b"Scaler"), (b".step()",)),
    pitfalls=("B05",),
)

_UNCHECKED = "No inf checks were recorded prior to update."
_ENDING = frozenset({EventKind.SCALED_BACKWARD, EventKind.BACKWARD, EventKind.UNKNOWN})
"""After these events a step is another one."""


def check_step(step: TrainingStep, file: PythonFile) -> Iterator[Finding]:
    for event in step.events:
        if event.kind is not EventKind.PLAIN_STEP or not step.is_own(event):
            continue
        if event.helper and step.heir is None:
            continue  # the helper is a step of its own
        beside = _beside(event, step)
        scaled = step.scaled_states(event)
        if beside is not None:
            yield _twice(event, beside, step, file)
        elif all(state.gradients is Gradients.SCALED for state in scaled):
            made = [state.made for state in scaled if state.made is not None]
            if made:
                yield _of_scaled(event, made[0], step, file)


def _beside(event: Event, step: TrainingStep) -> Event | None:
    """The scaler's step of the same optimizer, with no backward between it and this one."""

    def is_other(each: Event | None) -> bool:
        return each is not None and (each.kind, each.subject) == (EventKind.STEP, event.subject)

    before = [[*filter(is_other, state.stepped)] for state in step.states(event)]
    if before and all(before):
        return before[0][0]
    after = step.following(event, lambda each: is_other(each) or each.kind in _ENDING)
    return after[0] if after and all(map(is_other, after)) else None


def _twice(event: Event, other: Event, step: TrainingStep, file: PythonFile) -> Finding:
    edit = statements.delete(file, event.statement)
    return file.finding(
        RULE,
        file.span_of(event.node),
        f"`{event.subject}` steps twice: here and in `{other.scaler}.step`",
        confidence=Confidence.HIGH,
        why="Only the step of the scaler is skipped when gradients are infinite.",
        fix=Fix(Applicability.SAFE, "Remove the plain step: the scaler steps", (edit,))
        if edit is not None and step.are_in_one_block(event, other)
        else None,
        related=[other.related("the other step")],
    )


def _of_scaled(event: Event, backward: Event, step: TrainingStep, file: PythonFile) -> Finding:
    scaler = backward.scaler
    is_stepped = f"{scaler.rpartition('.')[2]}.step(" in file.text.text
    is_updated = any(step.following(event, lambda each: _is_update(each, scaler)))
    return file.finding(
        RULE,
        file.span_of(event.node),
        f"`{event.subject}.step` uses gradients that `{scaler}` has scaled",
        severity=Severity.ERROR if is_updated else Severity.WARNING,
        confidence=Confidence.HIGH
        if is_stepped or is_updated
        else Confidence.MEDIUM
        if _only_scales(scaler, file)
        else Confidence.LOW,
        why="The gradients are multiplied by the loss scale, 65536 at first, and may be infinite."
        + (f" `{scaler}.update` raises `{_UNCHECKED}`" if is_updated else ""),
        fix=_by_scaler(event, scaler, step, file),
        related=[backward.related("the loss is scaled here")],
    )


def _only_scales(scaler: str, file: PythonFile) -> bool:
    """True if a scaler that the file makes does nothing else: no other code gets it.

    `if self.scaler:` does nothing with it. What has it as an attribute may be in other files.
    """
    if scaler not in scalers_made(file):
        return False
    name, syntax = scaler.rpartition(".")[2], syntax_tree(file)
    for node in file.nodes:
        match node:
            case ast.Name(id=used, ctx=ast.Load()) | ast.Attribute(attr=used, ctx=ast.Load()):
                if used == name and not (_scales(node, syntax) or is_tested(node, syntax)):
                    return False
            case ast.arg(arg=used) | ast.keyword(arg=used) | ast.Constant(value=used):
                if used == name:
                    return False  # somebody gives it, or finds it by its name
    return "." not in scaler or not _is_used_elsewhere(name, file)


def _scales(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for the scaler of `scaler.scale(loss)`."""
    match syntax.parent(node):
        case ast.Attribute(attr="scale"):
            return True
    return False


def _is_used_elsewhere(name: str, file: PythonFile) -> bool:
    """True if another file that runs with this one calls methods of an attribute of the name."""
    path, project = file.text.path, file.project
    using = project.python_sources_matching(rf"\.{re.escape(name)}\.(?!scale\()".encode())
    return any(each != path and project.runs_with(each, path) for each in using)


def _by_scaler(event: Event, scaler: str, step: TrainingStep, file: PythonFile) -> Fix | None:
    """`optimizer.step()` to `scaler.step(optimizer)`, if the scaler is updated after it."""
    following = step.following(event, lambda each: each.scaler == scaler)
    if not all(each is not None and each.kind is EventKind.UPDATE for each in following):
        return None
    if event.node.args or event.node.keywords:
        return None
    edit = Edit(file.span_of(event.node), f"{scaler}.step({event.subject})")
    return Fix(Applicability.SAFE, "Step through the scaler", (edit,))


def _is_update(event: Event, scaler: str) -> bool:
    return (event.kind, event.scaler) == (EventKind.UPDATE, scaler)
