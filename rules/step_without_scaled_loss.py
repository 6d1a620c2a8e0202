"""`scaler.step` although no loss is ever scaled.

## What it does
Finds `scaler.step(optimizer)` in a file that creates the scaler, passes it to no other code, and
never calls its `scale`.

## Why it hurts
The first step raises `AssertionError: Attempted step but _scale is None. This may indicate your
script did not use scaler.scale(loss or outputs) earlier in the iteration.`, also after `unscale_`.
A disabled scaler does not raise, so the error first appears on the first machine that uses float16.

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
the fix the step raises, or the scaler is disabled and `scale` returns its argument.

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
    scalers_made,
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
