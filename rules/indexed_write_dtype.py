"""Values of another dtype written by index, mask or scatter.

## What it does
Finds `dst[index] = src` with a mask, a list or a tensor as index, `index_put_`, `index_add_`,
`index_copy_`, `index_reduce_`, `put_`, `masked_scatter_`, `scatter_`, `scatter_add_` and
`scatter_reduce_`, in place or not, where source and destination have different floating dtypes. It
is an error if both dtypes are known, and a warning if one is and the program shows that the other
can differ. Nothing is reported where a dtype is not known, or where both are of the same symbol
(`torch.zeros(n, dtype=src.dtype)`). `dst[0] = src`, `dst[:, 1] = src`, `dst.copy_(src)`, `where`,
`masked_fill` and numbers as source are left alone: torch casts these silently.

## Why it hurts
`RuntimeError: Index put requires the source and destination dtypes match, got BFloat16 for the
destination and Float for the source.`, `RuntimeError: scatter(): Expected self.dtype to be equal to
src.dtype`, `RuntimeError: index_add_(): self (BFloat16) and source (Float) must have the same
scalar type`, `RuntimeError: masked_scatter: expected self and source to have same dtypes` (torch
2.13). An autocast region does not help in place: it casts what goes into products, and not what is
written.

## Example
```python
import torch


def merge(embeds, mask, features):
    embeds = embeds.to(torch.bfloat16)
    embeds[mask > 0] = features.float()
    return embeds
```

## Use instead
```python
import torch


def merge(embeds, mask, features):
    embeds = embeds.to(torch.bfloat16)
    embeds[mask > 0] = features.float().to(embeds.dtype)
    return embeds
```

## Fix safety
Safe: `.to(dst.dtype)` changes nothing where the dtypes agree, and where they do not, the line can
only raise. Unsafe if an operand may be something else than a tensor. No fix if the destination is
not a name or an attribute.

## References
- Pitfall D03
- https://github.com/hiyouga/LlamaFactory/issues/3807
- https://github.com/pytorch/torchchat/issues/596
- https://github.com/huggingface/sentence-transformers/pull/3800
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
    may_be_indexed_write,
    may_disagree,
    regex,
)

_WRITING = (
    "index_put index_add index_copy index_reduce put masked_scatter scatter scatter_add "
    "scatter_reduce"
).split()

RULE = Rule(
    code="MP401",
    name="indexed-write-dtype",
    summary="an indexed write of a tensor with another dtype",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b".float", b"float16", b"float32", b"float64", b"bf16", b"fp16", b"half", b"double"),
        (b"] =", b"]=", b"index_", b"scatter", b"put(", b"put_("),
    ),
    calls=frozenset({"__setitem__", *_WRITING, *(f"{name}_" for name in _WRITING)}),
    pitfalls=("D03",),
    yields_to=("MP410",),
    preview=True,
)

_NAME = regex(r"[A-Za-z_][\w.]*")


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    if not decides_dtypes_around(node, file):
        return False
    return not isinstance(node, ast.Subscript) or may_be_indexed_write(node, file)


def follows(call: Call) -> bool:
    return may_disagree(call)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    yield from disagreement_findings(
        call,
        file,
        RULE,
        "{second} is {other}, but is written into {first}, which is {one}"
        if call.name == "__setitem__"
        else "`{operator}` needs one dtype, but {first} is {one} and {second} is {other}",
        "Cast the source to the dtype of the destination.",
        lambda found: _fix(found, file),
    )


def _fix(found: Disagreement, file: PythonFile) -> Fix | None:
    destination = file.text[found.first.argument.span]
    if not _NAME.fullmatch(destination):
        return None
    is_safe = not (found.first.tensor.may_be_other or found.second.tensor.may_be_other)
    return Fix(
        Applicability.SAFE if is_safe else Applicability.UNSAFE,
        f"Cast to `{destination}.dtype`",
        tuple(calls.append_method(file, found.second.argument.span, f".to({destination}.dtype)")),
    )
