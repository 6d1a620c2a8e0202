"""`scaler.step` although no loss is ever scaled.

## What it does
Finds `scaler.step(optimizer)` in a file that creates the scaler, passes it to no other code, and
never calls its `scale`. Finds also a loss that is a new tensor, as in
`loss = torch.tensor(total.item())`, where a step scales no other one: nothing leads from it to the
parameters.

## Why it hurts
The first step raises `AssertionError: Attempted step but _scale is None. This may indicate your
script did not use scaler.scale(loss or outputs) earlier in the iteration.`, also after `unscale_`.
A disabled scaler does not raise, so the error first appears on the first machine that uses float16.

With a new tensor for a loss no parameter has a gradient: `AssertionError: No inf checks were
recorded for this optimizer.`, or without `requires_grad=True`, `RuntimeError: element 0 of tensors
does not require grad and does not have a grad_fn`.

## Example
```python
scaler = torch.amp.GradScaler("cuda")
for batch in loader:
    model(batch).backward()
    scaler.step(optimizer)
    scaler.update()
```

## Use instead
```python
scaler = torch.amp.GradScaler("cuda")
for batch in loader:
    scaler.scale(model(batch)).backward()
    scaler.step(optimizer)
    scaler.update()
```

## Fix safety
Safe if the function has one plain backward on the path to every step: its loss is scaled. Without
the fix the step raises, or the scaler is disabled and `scale` returns its argument. There is no fix
for a loss that is a new tensor.

## References
- Pitfall B06
- https://github.com/huggingface/accelerate/issues/1990
- https://github.com/open-mmlab/mmsegmentation/issues/3230
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.fixers.calls import wrap_argument
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Event,
    EventKind,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    TrainingStep,
    dotted,
    qualified,
    scalers_made,
    syntax_tree,
)

RULE = Rule(
    code="MP217",
    name="step-without-scaled-loss",
    summary="`scaler.step` where no loss is ever scaled",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16",),
    fix="sometimes",
    triggers=((b"GradScaler(",), (b".step(",)),
    pitfalls=("B06",),
)


def check_step(step: TrainingStep, file: PythonFile) -> Iterator[Finding]:
    if step.heir is not None:
        return  # a base class is judged in its own file
    yield from _of_new_tensors(step, file)
    made = scalers_made(file)
    for event in step.events:
        if event.kind is not EventKind.STEP or event.helper or event.scaler not in made:
            continue
        if _is_used_otherwise(event.scaler, file.tree) or _is_scaled_elsewhere(event.scaler, file):
            continue
        yield file.finding(
            RULE,
            file.span_of(event.node),
            f"`{event.scaler}.step` is called, but no loss was scaled with `{event.scaler}.scale`",
            confidence=Confidence.HIGH,
            why="torch raises `Attempted step but _scale is None`, unless the scaler is off.",
            fix=_fix(event, step, file),
        )


def _of_new_tensors(step: TrainingStep, file: PythonFile) -> Iterator[Finding]:
    """The losses of a step that are new tensors, where they are all that it goes back from."""
    kinds = {EventKind.BACKWARD, EventKind.SCALED_BACKWARD, EventKind.UNKNOWN}
    backward = [event for event in step.events if event.kind in kinds]
    steps = {event.scaler for event in step.events if event.kind is EventKind.STEP}
    made = [_new_tensor(event, file) for event in backward]
    if None in made or any(event.scaler not in steps for event in backward):
        return
    for call in filter(None, dict.fromkeys(made)):
        yield file.finding(
            RULE,
            file.span_of(call),
            "the loss is a new tensor, from which no gradient reaches the parameters",
            confidence=Confidence.HIGH,
            why="AssertionError: No inf checks were recorded for this optimizer.",
            related=[backward[0].related("the backward pass starts here")],
        )


def _new_tensor(event: Event, file: PythonFile) -> ast.Call | None:
    """The call of `torch.tensor` that always makes the loss of an event of this file."""
    match event:
        case Event(
            kind=EventKind.SCALED_BACKWARD,
            helper="",
            node=ast.Call(func=ast.Attribute(value=ast.Call(args=[ast.Name(id=name) as loss]))),
        ):
            syntax = syntax_tree(file)
            stores = syntax.stores(syntax.function(loss) or syntax.tree, name)
        case _:
            return None
    match syntax.parent(stores[0]) if len(stores) == 1 else None:
        case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
            return call if qualified(call.func, syntax.names) == "torch.tensor" else None
    return None


def _is_used_otherwise(scaler: str, tree: ast.Module) -> bool:
    """True if the scaler scales something, or is handed to what may do so."""
    last = scaler.rpartition(".")[2]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=owner, attr="scale"):
                if (dotted(owner) or "").rpartition(".")[2] == last:
                    return True
            case ast.Call(args=arguments, keywords=keywords):
                given = [*arguments, *(keyword.value for keyword in keywords)]
                if any((dotted(each) or "").rpartition(".")[2] == last for each in given):
                    return True
            case ast.Assign(value=value) | ast.Return(value=ast.expr() as value):
                held = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
                if any((dotted(each) or "").rpartition(".")[2] == last for each in held):
                    return True
            case ast.Dict(values=values):
                if any((dotted(each) or "").rpartition(".")[2] == last for each in values):
                    return True
            case ast.ClassDef(bases=[_, *_]) if scaler.startswith("self."):
                return True  # a base may scale
    return False


def _is_scaled_elsewhere(scaler: str, file: PythonFile) -> bool:
    """True if another file scales with an attribute of this name: a subclass may do so."""
    owner, _, name = scaler.rpartition(".")
    scaling = rb"\.%b\.scale\(" % re.escape(name).encode()
    return bool(owner) and any(
        path != file.text.path for path in file.project.python_sources_matching(scaling)
    )


def _fix(event: Event, step: TrainingStep, file: PythonFile) -> Fix | None:
    backward = [each for each in step.events if each.kind is EventKind.BACKWARD]
    if len(backward) != 1 or backward[0].helper:
        return None
    made = [state.made for state in step.states(event)]
    if any(each is None or each.node is not backward[0].node for each in made):
        return None
    func = backward[0].node.func
    assert isinstance(func, ast.Attribute)
    edits = wrap_argument(file.span_of(func.value), f"{event.scaler}.scale")
    return Fix(Applicability.SAFE, "Scale the loss", tuple(edits))
