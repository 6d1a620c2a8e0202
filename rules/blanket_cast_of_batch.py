"""A cast of every tensor of a batch, token ids included.

## What it does
Finds comprehensions and loops that cast each tensor of a batch to a floating dtype, where the batch
has token ids, masks or labels: `{k: v.to(device, torch.float16) for k, v in batch.items()}`. That
it has them is known where the function reads `batch["input_ids"]`, makes the batch of such keys,
gets it from a tokenizer, or unpacks the result as `ids, mask, labels`.

Not reported: a condition on the dtype or the key (`v.is_floating_point()`), batches of which
nothing is known, and ids that the function casts to integers again. `BatchFeature.to(dtype)` of
transformers leaves integers alone.

## Why it hurts
An embedding refuses floating ids: `RuntimeError: Expected tensor for argument #1 'indices' to have
one of the following scalar types: Long, Int; but got torch.HalfTensor instead (while checking
arguments for embedding)`, and a loss refuses floating labels: `RuntimeError: expected target dtype
to be Long or Byte, but got Half` (torch 2.13). Where the ids are made integers again later, they
are other ids: 50257 becomes 50176 in bfloat16, and 50272 in float16.

## Example
```python
batch = tokenizer(texts, return_tensors="pt")
batch = {name: value.to(device, torch.float16) for name, value in batch.items()}
logits = model(**batch).logits
```

## Use instead
```python
batch = tokenizer(texts, return_tensors="pt")
batch = {
    name: value.to(device, torch.float16 if value.is_floating_point() else None)
    for name, value in batch.items()
}
logits = model(**batch).logits
```

## Fix safety
Unsafe: integers and masks keep their dtype, which code after it may not expect. `.to(device, None)`
moves a tensor and does not cast it.

## References
- Pitfall D08
- https://github.com/deepspeedai/DeepSpeed/issues/5701
- https://github.com/QwenLM/Qwen3/issues/44
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Applicability,
    BlanketCast,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Span,
    blanket_casts,
    callee_name,
    precision_of,
    syntax_tree,
)

RULE = Rule(
    code="MP406",
    name="blanket-cast-of-batch",
    summary="a cast of every tensor of a batch, token ids included",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"torch",), (b".to(", b".half()", b".bfloat16()", b".float()"), (b" for ",)),
    pitfalls=("D08",),
    preview=True,
)

_METHODS = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"}


def check_source(file: PythonFile) -> Iterator[Finding]:
    for cast in blanket_casts(file):
        dtype = _shown(cast, file)
        precision = precision_of(dtype.removeprefix("torch."))
        yield file.finding(
            RULE,
            file.span_of(cast.call),
            f"every tensor of the batch is cast to `{dtype}`, `{cast.name}` too",
            confidence=Confidence.MEDIUM,
            why="An embedding raises for floating-point ids, and rounding changes ids.",
            fix=_fix(cast, file),
            related=[file.related(file.span_of(cast.integer), f"`{cast.name}` is one of them")],
            precisions=(precision,) if precision is not None else RULE.precisions,
        )


def _shown(cast: BlanketCast, file: PythonFile) -> str:
    if cast.dtype is None:
        return f"torch.{_METHODS[callee_name(cast.call)]}"
    return file.text[file.span_of(cast.dtype)]


def _fix(cast: BlanketCast, file: PythonFile) -> Fix | None:
    condition = f"{_shown(cast, file)} if {cast.item}.is_floating_point() else None"
    if cast.dtype is not None:
        edit = Edit(file.span_of(cast.dtype), condition)
    elif syntax_tree(file).names.get("torch") == "torch":
        end = file.span_of(cast.call).end
        method = f"{callee_name(cast.call)}()"
        if not file.text[Span(0, end)].endswith(method):
            return None
        edit = Edit(Span(end - len(method), end), f"to({condition})")
    else:
        return None
    return Fix(Applicability.UNSAFE, "Leave integers as they are", (edit,))
