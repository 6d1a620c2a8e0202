"""A fill value that half precision does not hold.

## What it does
Finds numbers that a tensor is filled with although its dtype ends before them: above 65504 in
float16, above 3.39e38 in bfloat16, whose largest number is smaller than that of float32. The calls
are `masked_fill`, `fill_`, `index_fill`, `full`, `full_like`, `new_full` and `torch.where`; the
numbers are literals (`-1e9`, `-10 ** 9`), constants, and `torch.finfo(torch.float32).min`.

A tensor counts if the dtype flow shows that it is float16 or bfloat16: by a cast, by an autocast
region around the call, or by a program that calls the functions of the file under autocast. Such a
program opens the region itself, or makes an `Accelerator` or a `Trainer` with `fp16=True`. So does
a tensor that certainly has the dtype of the weights in a model that `from_pretrained` can load in
bfloat16 (see MP408), unless the file opens autocast or has a Trainer. Scores that are computed in
float32 there, such as `scores.float()` or the output of `softmax`, are not reported. Infinity is
fine, and so is `torch.finfo(scores.dtype).min`.

## Why it hurts
`RuntimeError: value cannot be converted to type c10::Half without overflow` (torch 2.13;
`c10::BFloat16` for bfloat16; older releases call it `at::Half`). `torch.where` does not raise: the
number becomes -inf, and the softmax of a row that is masked as a whole is NaN.

## Example
```python
import torch

with torch.autocast("cuda", dtype=torch.float16):
    scores = query @ key.transpose(-2, -1)
    scores = scores.masked_fill(mask == 0, -1e9)
```

## Use instead
```python
import torch

with torch.autocast("cuda", dtype=torch.float16):
    scores = query @ key.transpose(-2, -1)
    scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
```

## Fix safety
The fix replaces the limits of float32 by those of the tensor's dtype, and bounds other numbers by
them: `max(-1e9, torch.finfo(scores.dtype).min)`. In float32 the value stays what it was. It is safe
if the tensor is certainly floating, because `torch.finfo` rejects integers, and otherwise unsafe;
so it is where only a run with weights in bfloat16 was looked at.
There is no fix where the tensor has no name.

## References
- Pitfalls E01, E02
- https://github.com/NVIDIA/apex/issues/1052
- https://github.com/facebookresearch/fairseq/issues/3575
- https://github.com/huggingface/transformers/pull/17437
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    FLOATING,
    Applicability,
    Confidence,
    Edit,
    Fill,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Span,
    fills,
    imported_names,
    precision_of,
    regex,
)

RULE = Rule(
    code="MP303",
    name="mask-constant-out-of-range",
    summary="a tensor is filled with a number that half precision does not hold",
    severity=Severity.ERROR,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"torch",), (b"masked_fill", b"fill_(", b"_fill(", b"full", b"where(")),
    pitfalls=("E01", "E02"),
    yields_to=("MP410",),
    preview=True,
)

_NAME = regex(r"[A-Za-z_][\w.]*")
_LIMIT = regex(r"(torch\.finfo)\(\s*torch\.\w+\s*\)\.(min|max)")
_CLASSES = {"float16": "Half", "bfloat16": "BFloat16"}


def check_source(file: PythonFile) -> Iterator[Finding]:
    for fill in fills(file):
        number = file.text[fill.number.span]
        yield file.finding(
            RULE,
            fill.number.span,
            f"`{number}` is out of range for the tensor, which "
            f"{'is' if fill.is_certain else 'can be'} {fill.dtype}",
            confidence=Confidence.HIGH if fill.is_certain else Confidence.MEDIUM,
            severity=Severity.ERROR if fill.raises and fill.is_certain else Severity.WARNING,
            why="`RuntimeError: value cannot be converted to type "
            f"c10::{_CLASSES[fill.dtype]} without overflow`"
            if fill.raises
            else f"It becomes infinite in {fill.dtype}; a row that is masked as a whole becomes "
            "NaN in a softmax.",
            fix=_fix(fill, file),
            related=[fill.origin.related, *(site.related for site in fill.origin.route)],
            precisions=tuple(filter(None, [precision_of(fill.dtype)])),
        )


def _fix(fill: Fill, file: PythonFile) -> Fix | None:
    """The limits of the tensor's own dtype, or the number bounded by them."""
    tensor = _tensor(fill, file)
    number = file.text[fill.number.span]
    is_imported = imported_names(file).get("torch") == "torch"
    if tensor is None or "\n" in number or not is_imported:
        return None
    if (limit := _LIMIT.fullmatch(number)) is not None:
        new = f"{limit[1]}({tensor}).{limit[2]}"
    elif fill.is_negative:
        new = f"max({number}, torch.finfo({tensor}).min)"
    else:
        new = f"min({number}, torch.finfo({tensor}).max)"
    is_floating = fill.tensor.dtypes <= FLOATING and not fill.tensor.is_open
    is_safe = is_floating and not fill.is_of_one_run
    level = Applicability.SAFE if is_safe else Applicability.UNSAFE
    return Fix(level, "Keep the number in the range of the dtype", (Edit(fill.number.span, new),))


def _tensor(fill: Fill, file: PythonFile) -> str | None:
    """An expression for the dtype of the tensor that is filled; None if that is computed."""
    call = fill.call
    given = call.keywords.get("dtype")
    span: Span | None = call.receiver_span
    if given is None and call.function is not None:
        argument = None if call.name in {"full", "where"} else call.argument(0, "input")
        span = None if argument is None else argument.span
    text = "" if span is None else file.text[span]
    if given is not None:
        return named[0] if (named := _NAME.fullmatch(file.text[given.span])) else None
    return f"{text}.dtype" if _NAME.fullmatch(text) else None
