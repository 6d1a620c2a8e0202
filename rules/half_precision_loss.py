"""A classification loss on half-precision logits.

## What it does
Finds `F.cross_entropy`, `nn.CrossEntropyLoss` and `F.nll_loss` on bfloat16 or float16 input outside
autocast: logits that were cast, or that come from a model with half-precision weights. Inside an
autocast region the result of these losses is float32, and they are not reported: `F.cross_entropy`
of half-precision logits still takes the logarithm in half precision there (torch 2.11 on an H200:
single losses are off by up to 0.4 % in bfloat16, their mean over 4,096 tokens by 0.003 %).

A loss of logits that are in half precision in some runs only is reported if an option or another
setting chooses the dtype of the weights (`--dtype bf16`). Confidence is low if the checkpoint
chooses the dtype, if a region of autocast before makes it in some runs only, and if a Trainer or
Lightning calls the method, because it may do so under autocast. It is low with `reduction="none"`,
too: errors of single tokens even out in a mean that is taken in float32.

In `forward` of a class, the program that makes the model decides: `Net().to(torch.bfloat16)`,
`Net.from_pretrained(..., dtype=torch.bfloat16)`, in whichever file, with or without an engine of
DeepSpeed. The loss is reported if its logits then have the dtype of the weights, and the program
calls the model with the labels. It is not if a file of the program opens autocast around the model,
uses a Trainer, a Lightning module, an Accelerator or FSDP, or casts layers of the model to float32.

A file is read only if it contains `bfloat16`, `float16`, `.half(` or a `forward`.

## Why it hurts
There is no error. The loss comes out in the dtype of the logits. bfloat16 has 8 significant bits: a
loss between 2 and 4 moves in steps of 1/64, a sum of losses above 256 in steps of 2, and the
perplexity that is computed from it is off by several percent. The same steps affect every
comparison of runs, early stopping and `loss < best`. `F.cross_entropy(logits.float(), target)` is
correct, but holds several float32 copies of the logits.

## Example
```python
import torch
import torch.nn.functional as F


def loss_of(model, tokens, labels):
    logits = model.head(tokens).to(torch.bfloat16)
    return F.cross_entropy(logits, labels, ignore_index=0)
```

## Use instead
```python
import torch
import torch.nn.functional as F
from precision_lint.runtime import cross_entropy


def loss_of(model, tokens, labels):
    logits = model.head(tokens).to(torch.bfloat16)
    return cross_entropy(logits, labels, ignore_index=0)
```

## Fix safety
Unsafe: the dtype of the loss changes. The fix casts the logits, which costs memory. If the
configuration names `precision_lint.runtime` as the module of helpers (`fix.helper-module`), it
calls `precision_lint.runtime.cross_entropy` instead, where the arguments allow it: the same loss,
computed in float32 from the load on, without a copy of the logits. That function rejects class
probabilities as a target. No fix for `F.nll_loss`: its input is already rounded.

## References
- Pitfall E09
- https://github.com/Modalities/modalities/pull/464
- https://github.com/huggingface/transformers/pull/34147
- https://github.com/huggingface/sentence-transformers/pull/3893
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from precision_lint.fixers import calls, helpers
from precision_lint.rule_api import (
    BFLOAT16,
    FLOAT16,
    LOSSES,
    Applicability,
    Call,
    Confidence,
    Edit,
    Finding,
    Fix,
    ModelOutput,
    PythonFile,
    Related,
    Rule,
    Severity,
    Span,
    Tensor,
    half_loss,
    is_unreduced,
    losses_in_forward,
    precision_of,
    regex,
)

RULE = Rule(
    code="MP301",
    name="half-precision-loss",
    summary="a classification loss of logits in half precision",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"cross_entropy", b"CrossEntropyLoss", b"nll_loss"),
        (b"bfloat16", b"float16", b".half(", b"def forward("),
    ),
    calls=frozenset({"cross_entropy", "nll_loss", "CrossEntropyLoss"}),
    pitfalls=("E09",),
)

_HALF = frozenset({BFLOAT16, FLOAT16})
_TAKEN = frozenset({"weight", "ignore_index", "reduction", "label_smoothing"})
_CALLEE = regex(r"[\w.]+(?=\s*\()")
_HALF_NAMED = regex(r"bfloat16|float16|\.half\(")
_FRAMEWORKS = regex(r"(?:Trainer|LightningModule)\b")


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in losses_in_forward(file):
        yield _finding(
            found.call,
            file,
            Confidence.MEDIUM,
            "is" if found.is_certain else "can be",
            [found.dtype],
            found.related,
        )


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    return _HALF_NAMED.search(file.text.text) is not None


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    logits = call.argument(0, "input")
    if call.function not in LOSSES or logits is None or call.autocast is not None:
        return
    is_output = isinstance(logits.value, ModelOutput)
    tensor = logits.value.tensor if isinstance(logits.value, ModelOutput) else logits.value
    if not isinstance(tensor, Tensor) or not tensor.may_be(_HALF):
        return
    dtypes = sorted(tensor.dtypes & _HALF)
    confidence, verb = Confidence.LOW, "is"
    related = [tensor.origin.related] if tensor.origin is not None else []
    is_meant = file.project.is_secondary(file.text.path)  # tests compare losses in half precision
    is_meant = is_meant or is_unreduced(call, file) or _is_called_by_framework(call, file)
    if tensor.must_be(_HALF) and not is_meant:
        confidence = Confidence.MEDIUM if is_output else Confidence.HIGH
    elif not is_meant and (found := half_loss(call, file)) is not None:
        confidence, verb, dtypes, related = (
            Confidence.MEDIUM,
            "can be",
            [found.dtype],
            [*found.related],
        )
    if all(each.call.span != call.span for each in losses_in_forward(file)):
        yield _finding(call, file, confidence, verb, dtypes, related)


def _finding(
    call: Call,
    file: PythonFile,
    confidence: Confidence,
    verb: str,
    dtypes: Sequence[str],
    related: Sequence[Related],
) -> Finding:
    what = " or ".join(dtypes) or "half precision, if the model is"
    return file.finding(
        RULE,
        call.span,
        f"`{LOSSES[call.function or '']}` {verb} computed in {what}",
        confidence=confidence,
        why="The loss has 8 significant bits in bfloat16, 11 in float16: compute it in float32.",
        fix=partial(_fix, call, file),
        related=related,
        precisions=tuple(filter(None, map(precision_of, dtypes))) or RULE.precisions,
    )


def _is_called_by_framework(call: Call, file: PythonFile) -> bool:
    """True in a class whose methods a framework calls, under autocast if the user enables it."""
    classes = (node for node in file.tree.body if isinstance(node, ast.ClassDef))
    owner = call.scope.partition(".")[0]
    return any(
        _FRAMEWORKS.search(ast.unparse(base))
        for node in classes
        if node.name == owner
        for base in node.bases
    )


def _fix(call: Call, file: PythonFile) -> Fix | None:
    logits = call.argument(0, "input")
    if logits is None or logits.starred or call.name == "nll_loss":
        return None
    is_plain = len(call.arguments) == 2 and not any(each.starred for each in call.arguments)
    if call.name == "cross_entropy" and is_plain and call.keywords.keys() <= _TAKEN:
        helper = helpers.helper(
            file,
            "cross_entropy",
            call.span.start,
            file.helper_module("cross_entropy"),
            file.import_style,
        )
        callee = _CALLEE.match(file.text.text, call.span.start)
        if helper.is_at_hand and callee is not None:
            return Fix(
                Applicability.UNSAFE,
                "Compute the loss in float32, without a copy of the logits",
                (*helper.edits, Edit(Span(*callee.span()), helper.local)),
            )
    widened = calls.append_method(file, logits.span, ".float()")
    return Fix(Applicability.UNSAFE, "Compute the loss in float32", tuple(widened))
