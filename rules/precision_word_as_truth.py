"""A word of a precision that is taken as a truth value.

## What it does
Finds conditions that choose a half dtype for any word, where a word asks for float32:
`torch.bfloat16 if args.mixed_precision else torch.float32`, and `--mixed_precision no`. The word is
a default or a choice of an option or of a field, or the `mixed_precision` of an `Accelerator`,
which is `"no"` where nothing sets it.

Not reported: settings of which some values are switches (`False`), as these may be what turns it
off, and files that give the setting another value (`args.mixed_precision = None`).

## Why it hurts
There is no error: `bool("no")` is true. A run with mixed precision switched off then trains in half
precision, without the float32 weights that autocast keeps. `"fp16"` gives bfloat16, too.

## Example
```python
import torch
from accelerate import Accelerator

accelerator = Accelerator()
weight_dtype = torch.bfloat16 if accelerator.mixed_precision else torch.float32
```

## Use instead
```python
import torch
from accelerate import Accelerator

accelerator = Accelerator()
weight_dtype = torch.bfloat16 if accelerator.mixed_precision != "no" else torch.float32
```

## Fix safety
The fix compares the word with the one that asks for float32. It is unsafe: runs with this word
compute in float32 then. Whether each other word is right for the dtype is left to you.

## References
- https://docs.python.org/3/library/stdtypes.html#truth-value-testing
- Pitfall H04
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    words_as_truth,
)

RULE = Rule(
    code="MP616",
    name="precision-word-as-truth",
    summary="a word of a precision that is taken as a truth value",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="always",
    triggers=(
        (b"torch.bfloat16", b"torch.float16", b"torch.half"),
        (b"torch.float32", b"torch.float"),
    ),
    preview=True,
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in words_as_truth(file):
        place = file.span_of(found.test)
        edit = Edit(place, f'{file.text[place]} != "{found.word}"')
        yield file.finding(
            RULE,
            place,
            f'this is true for any word: `"{found.word}"` gives {found.dtype} as well',
            confidence=Confidence.MEDIUM,
            why=f'`bool("{found.word}")` is true: who asks for float32 gets {found.dtype}.',
            fix=Fix(Applicability.UNSAFE, f'Compare with `"{found.word}"`', (edit,)),
            related=[] if found.said is None else [found.said],
        )
