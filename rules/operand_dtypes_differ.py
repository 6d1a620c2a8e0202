"""Operators that promote nothing, given two dtypes.

## What it does
Finds operators that need one dtype and, unlike `+` or `torch.where`, do not promote: `torch.lerp`
and `lerp_`, `torch.dot`, `F.cross_entropy` and `F.nll_loss` with class weights, `F.prelu`,
`F.binary_cross_entropy` outside autocast, `addmm_` and `baddbmm_`, `torch.isclose` and
`torch.allclose`. Two of their operands certainly have different floating dtypes, or one does and
the program shows that the other one can. Nothing is reported if a dtype is not known.

## Why it hurts
``RuntimeError: expected dtype float for `end` but got dtype c10::BFloat16``, `RuntimeError:
expected scalar type BFloat16 but found Float`, `RuntimeError: dot : expected both vectors to have
same dtype, but found BFloat16 and Float`, `RuntimeError: Found dtype Float but expected BFloat16`,
`RuntimeError: BFloat16 did not match Float` (torch 2.13). An average of weights in float32 breaks
as soon as the model that it follows is in half precision.

## Example
```python
import torch


def update(average, weight):
    average = average.float()
    weight = weight.to(torch.bfloat16)
    average.lerp_(weight, 0.001)
```

## Use instead
```python
import torch


def update(average, weight):
    average = average.float()
    weight = weight.to(torch.bfloat16)
    average.lerp_(weight.to(average.dtype), 0.001)
```

## Fix safety
Unsafe: the second operand is cast to the dtype of the first. The call raises as it is written, but
which of the two dtypes is meant, the code does not say. No fix if the first operand is not a name
or an attribute.

## References
- Pitfall D07
- https://docs.pytorch.org/docs/stable/generated/torch.lerp.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    Applicability,
    Call,
    Disagreement,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    decides_dtypes_around,
    disagreement_findings,
    may_disagree,
    regex,
)

_STRICT = frozenset({"lerp", "lerp_", "isclose", "allclose", "addmm_", "baddbmm_"})
"""What autocast does not cast for."""
_CAST = frozenset({"dot", "vdot", "cross_entropy", "nll_loss", "binary_cross_entropy", "prelu"})
"""What it casts for, or promotes."""

RULE = Rule(
    code="MP407",
    name="operand-dtypes-differ",
    summary="operands of two dtypes for an operator that does not promote them",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=(
        (b"torch",),
        tuple(sorted(name.encode() for name in _STRICT | _CAST)),
        (b"float", b"bf16", b"fp16", b"half", b"double"),
    ),
    calls=_STRICT | _CAST,
    pitfalls=("D07",),
    yields_to=("MP410",),
    preview=True,
)

_NAME = regex(r"[A-Za-z_][\w.]*")


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return decides_dtypes_around(node, file)


def follows(call: Call) -> bool:
    return may_disagree(call)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    yield from disagreement_findings(
        call,
        file,
        RULE,
        "`{operator}` needs one dtype, but {first} is {one} and {second} is {other}",
        "Cast one of them to the dtype of the other.",
        lambda found: _fix(found, file),
        is_cast_by_autocast=call.name in _CAST,
    )


def _fix(found: Disagreement, file: PythonFile) -> Fix | None:
    first = file.text[found.first.argument.span]
    if not _NAME.fullmatch(first):
        return None
    edits = calls.append_method(file, found.second.argument.span, f".to({first}.dtype)")
    return Fix(Applicability.UNSAFE, f"Cast to `{first}.dtype`", tuple(edits))
