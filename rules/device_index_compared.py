"""A device with an index that is compared with `"cuda"` to choose a precision.

## What it does
Finds `device == "cuda"` and `device != "cuda"` that choose a half dtype, a cast, an autocast region
or a scaler, where all texts that the device can be are written out in the file, one of them has an
index (`"cuda:1"`, `f"cuda:{rank}"`), and none is `"cuda"`.

Not reported: comparisons that choose something else, `torch.device` objects, and devices that a
caller or an option gives.

## Why it hurts
There is no error: `"cuda:1" == "cuda"` is False. The program computes in the precision that is
meant for the CPU, which is float32 mostly: twice the memory, and several times slower.

## Example
```python
import torch

device = "cuda:1" if torch.cuda.is_available() else "cpu"
dtype = torch.float16 if device == "cuda" else torch.float32
```

## Use instead
```python
import torch

device = "cuda:1" if torch.cuda.is_available() else "cpu"
dtype = torch.float16 if device.startswith("cuda") else torch.float32
```

## Fix safety
Unsafe: the program computes in half precision then, which it never did.

## References
- https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    NeverCuda,
    PythonFile,
    Rule,
    Severity,
    devices_compared,
)

RULE = Rule(
    code="MP617",
    name="device-index-compared",
    summary='a device with an index is compared with `"cuda"` to choose a precision',
    severity=Severity.WARNING,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"torch",), (b"cuda:",), (b'"cuda"', b"'cuda'")),
    preview=True,
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in devices_compared(file):
        left = file.text[file.span_of(found.node.left)]
        texts = dict.fromkeys(file.text[file.span_of(each)] for each in found.devices)
        yield file.finding(
            RULE,
            file.span_of(found.node),
            f'`{left}` is never "cuda": it is {" or ".join(texts)}',
            confidence=Confidence.MEDIUM,
            why="A text with an index does not equal the one without, so the precision for the CPU "
            "is chosen on a GPU as well.",
            fix=_fix(found, file),
            related=[
                file.related(file.span_of(each), "the device is chosen here")
                for each in found.devices[:1]
            ],
        )


def _fix(found: NeverCuda, file: PythonFile) -> Fix | None:
    if not isinstance(found.node.left, ast.Name | ast.Attribute):
        return None
    left = file.text[file.span_of(found.node.left)]
    is_equal = isinstance(found.node.ops[0], ast.Eq)
    content = f'{"" if is_equal else "not "}{left}.startswith("cuda")'
    edit = Edit(file.span_of(found.node), content)
    return Fix(Applicability.UNSAFE, "Compare the type of the device", (edit,))
