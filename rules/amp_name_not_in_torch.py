"""A name of AMP that the pinned torch does not have.

## What it does
Finds imports and uses of `torch.amp.GradScaler` (since torch 2.3), `torch.amp.custom_fwd`,
`torch.amp.custom_bwd`, `torch.amp.is_autocast_available`, `torch.get_autocast_dtype` and
`torch.set_autocast_dtype` (since 2.4), and `torch.autocast` (since 1.10), in a project that pins an
older torch: `torch==2.1.2` in its requirements or lock file, or in the install command of its page.

Not reported: code under a condition on torch's version or `hasattr`, code in a `try` that catches
the error, projects that only name a lower bound, and programs that need a newer Python than the
pinned torch has packages for: with `def f(x: int | None)` they run on Python 3.10, and so on torch
1.11 at least.

## Why it hurts
The program ends at its first line: `ImportError: cannot import name 'GradScaler' from 'torch.amp'`,
or where the name is reached: `AttributeError: module 'torch.amp' has no attribute 'GradScaler'`.
The deprecation warnings of newer releases suggest these names, and who follows them with an older
pin gets this.

## Example
```text
# requirements.txt
torch==2.1.2
```

```python
from torch.amp import GradScaler
```

## Use instead
```text
# requirements.txt
torch==2.3.1
```

```python
from torch.amp import GradScaler
```

## Fix safety
There is no fix: a newer torch, or the older name (`torch.cuda.amp.GradScaler()`, which takes no
device) are both possible.

## References
- Pitfall C12
- https://github.com/k2-fsa/icefall/issues/1839
- https://github.com/MIC-DKFZ/HD-BET/issues/68
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    MissingName,
    PythonFile,
    Rule,
    Severity,
    missing_names,
)

RULE = Rule(
    code="MP225",
    name="amp-name-not-in-torch",
    summary="a name of AMP that the pinned torch does not have",
    severity=Severity.ERROR,
    since="0.1.0",
    triggers=(
        (b"torch",),
        (
            b"torch.amp",
            b"torch.autocast",
            b"import autocast",
            b"get_autocast_dtype",
            b"set_autocast_dtype",
        ),
        (b"GradScaler", b"custom_", b"autocast"),
    ),
    pitfalls=("C12",),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for missing in missing_names(file):
        node = missing.node
        yield file.finding(
            RULE,
            file.span_of(node),
            f"torch {_shown(missing.version)}, which the project pins, has no `{missing.name}`",
            confidence=Confidence.MEDIUM,
            why=f"{_error(missing)} It exists since torch {_shown(missing.since)}.",
        )


def _error(missing: MissingName) -> str:
    module, _, name = missing.name.rpartition(".")
    if isinstance(missing.node, ast.alias):
        return f"ImportError: cannot import name '{name}' from '{module}'."
    return f"AttributeError: module '{module}' has no attribute '{name}'."


def _shown(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
