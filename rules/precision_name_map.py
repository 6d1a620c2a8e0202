"""A name of a precision that stands for another dtype.

## What it does
Finds tables and chains of comparisons that turn names into dtypes and give one name the dtype of
another: `"bf16"` that gives `torch.float16`, `"fp16"` that gives `torch.bfloat16`, `"fp32"` that
gives one of them. A table or a chain counts only if another entry of it is right, or if two entries
are exchanged.

Not reported: names of 16 bits that give float32, entries with a comment on their line, which say
why, and code under a condition about the device or its support for a dtype.

## Why it hurts
There is no error: who asks for bf16 trains in float16, without loss scaling and with a largest
value of 65504 (of bfloat16: 3.4e38), or the other way round with 8 significant bits instead of 11.
`torch.tensor(70000.0).to(DTYPES["bf16"])` is then `inf`, with every torch up to 2.13.

## Example
```python
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.float16}
```

## Use instead
```python
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
```

## Fix safety
Unsafe: runs that ask for this name compute in another dtype than before.

## References
- Pitfall H04
- https://github.com/centerforaisafety/HarmBench/issues/39
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Entry,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    WrongEntry,
    regex,
    syntax_tree,
    wrong_entries,
)

RULE = Rule(
    code="MP608",
    name="precision-name-map",
    summary="a precision name that stands for another dtype",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"torch",),
        (b"bf16", b"bfloat16", b"BF16"),
        (b"torch.float16", b"torch.half", b"torch.bfloat16"),
    ),
    pitfalls=("H04",),
)

_OF_DEVICE = regex(
    r"support|capab|avail|device|cuda|\bcpu\b|mps|npu|xpu|rocm|hip|v100|turing|ampere|arch|version",
    re.IGNORECASE,
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in wrong_entries(file):
        if not (_is_explained(found.entry, file) or _is_of_device(found.entry, file)):
            yield _finding(found, file)


def _finding(found: WrongEntry, file: PythonFile) -> Finding:
    entry, right = found.entry, found.right
    place = file.span_of(entry.value)
    shown = file.text[place]
    related = [file.related(file.span_of(entry.key), f"`{entry.name}` is the name")]
    if right is not None:
        related.append(file.related(file.span_of(right.value), f"`{right.name}` is right here"))
    edit = Edit(place, f"{shown.rpartition('.')[0]}.{entry.named}")
    fix = Fix(Applicability.UNSAFE, f"Use `{edit.content}`", (edit,)) if "." in shown else None
    return file.finding(
        RULE,
        place,
        f"`{entry.name}` stands for {entry.dtype} here",
        confidence=Confidence.MEDIUM,
        why=f"Runs with {entry.named} silently compute in {entry.dtype}.",
        fix=fix,
        related=related,
    )


def _is_explained(entry: Entry, file: PythonFile) -> bool:
    """True if a comment stands on the line of the dtype, or of the name, or above it."""
    rows = {entry.value.lineno, entry.key.lineno}
    above = file.text.line(min(rows) - 1) if min(rows) > 1 else ""
    return above.lstrip().startswith("#") or any("#" in file.text.line(row) for row in rows)


def _is_of_device(entry: Entry, file: PythonFile) -> bool:
    """True under a condition about the device, or in a function that is named after one."""
    for parent in syntax_tree(file).within_function(entry.value):
        match parent:
            case ast.If(test=test) | ast.IfExp(test=test):
                if _OF_DEVICE.search(file.text[file.span_of(test)]):
                    return True
            case ast.FunctionDef(name=name):
                return _OF_DEVICE.search(name) is not None
    return False
