"""A module that is given a tensor of another dtype than its weights.

## What it does
Finds calls of modules that raise because the input has another floating dtype than the weights:
layers of `torch.nn` (`Linear`, convolutions, recurrent layers, norms of a half dtype), `Sequential`
of such layers, and modules of the project whose `forward` hands the input to one of them. The
products `F.linear`, `torch.matmul`, `mm`, `bmm`, `F.conv2d` and their like count, too. Both dtypes
are proved: the module was cast (`.to(torch.bfloat16)`, `.half()`) or made here, and the input was
made or cast here. What `forward` casts before it uses it is followed.

Nothing is reported inside of an autocast region, which casts the input, and a finding has low
confidence in a function if a framework or another file may open one around it, or if other code
gets the module and may cast parts of it.

## Why it hurts
`RuntimeError: mat1 and mat2 must have the same dtype, but got Float and BFloat16`, `RuntimeError:
Input type (float) and bias type (c10::Half) should be the same`, `RuntimeError: mixed dtype (CPU):
expect parameter to have scalar type of Float`, `RNN input dtype (torch.float32) does not match
weight dtype (torch.float16)` (torch 2.13). Casting a module does not cast what it is given.

## Example
```python
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(torch.bfloat16)
x = torch.randn(2, 4)
y = model(x)
```

## Use instead
```python
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(torch.bfloat16)
x = torch.randn(2, 4)
y = model(x.to(torch.bfloat16))
```

## Fix safety
The only argument is cast to the dtype of the weights. Safe where the call certainly raises as it is
written; float32 input loses precision, as all that such a module computes does. No fix for modules
of the project with several arguments, or if the file does not call torch by its name.

## References
- Pitfalls D01, D09
- https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to
- https://discuss.pytorch.org/t/runtimeerror-mat1-and-mat2-must-have-the-same-dtype/166759
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    BFLOAT16,
    FLOAT16,
    LAYERS,
    REJECTED,
    Applicability,
    Call,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    Rejection,
    Rule,
    Severity,
    Tensor,
    callee_name,
    callee_text,
    decides_dtypes_around,
    disagreement_findings,
    is_shared_module,
    may_disagree,
    may_fail_on_purpose,
    may_reject,
    may_run_under_autocast,
    names_unusual_dtypes,
    origins,
    precision_of,
    quoted,
    regex,
    rejections,
)

_PRODUCTS = (
    "linear matmul mm bmm addmm baddbmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d"
).split()

_CLASSES = frozenset({"Sequential", *LAYERS})

RULE = Rule(
    code="MP403",
    name="input-dtype-differs-from-module",
    summary="a module is given a tensor of another dtype than its weights",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"float16", b"bf16", b"fp16", b"half", b"float64", b"double"),
    ),
    calls=frozenset({"Module", *_CLASSES, *_PRODUCTS}),
    pitfalls=("D01", "D09"),
    yields_to=("MP410",),
    preview=True,
)

_HALF = frozenset({BFLOAT16, FLOAT16})
_TORCH = regex(r"^import torch$|^import torch\s*#", re.MULTILINE)


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    is_class = isinstance(node, ast.Call) and callee_name(node) in _CLASSES
    if is_class and ")(" not in file.text.line(node.end_lineno or node.lineno):
        return False  # it makes a layer, and does not call it
    return names_unusual_dtypes(file) and decides_dtypes_around(node, file)


def follows(call: Call) -> bool:
    return may_disagree(call) if call.name in _PRODUCTS else may_reject(call)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    if call.name in _PRODUCTS:
        if call.autocast is None:
            yield from disagreement_findings(
                call,
                file,
                RULE,
                "`{operator}` needs one dtype, but {first} is {one} and {second} is {other}",
                "Cast one of them to the dtype of the other.",
                lambda found: None,
                is_cast_by_autocast=True,
            )
        return
    found = rejections(call, file)
    if not found or call.autocast is not None or may_fail_on_purpose(call, file):
        return
    is_sure = not (may_run_under_autocast(call, file) or is_shared_module(call, file))
    name = callee_text(call, file)
    first = found[0]
    related = [first.place.related] if first.place.span != call.span else []
    yield file.finding(
        RULE,
        call.span,
        f"{f'`{name}`' if name else 'the module'} has {first.parameters} weights, but gets "
        f"{first.given} input",
        confidence=Confidence.HIGH if is_sure else Confidence.LOW,
        why=f"{quoted(REJECTED)}: casting a module does not cast its inputs.",
        fix=_fix(call, first, file),
        related=[*related, *origins(call)],
        precisions=tuple(filter(None, (precision_of(one) for one in first[1:] if one in _HALF))),
    )


def _fix(call: Call, found: Rejection, file: PythonFile) -> Fix | None:
    if len(call.arguments) != 1 or call.keywords or _TORCH.search(file.text.text) is None:
        return None
    (given,) = call.arguments
    if not isinstance(given.value, Tensor) or not given.value.must_be(frozenset({found.given})):
        return None
    edits = calls.append_method(file, given.span, f".to(torch.{found.parameters})")
    return Fix(Applicability.SAFE, f"Cast the input to {found.parameters}", tuple(edits))
