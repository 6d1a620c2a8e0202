"""A value that the framework does not take for a precision.

## What it does
Finds values that the reader of a file refuses or takes for something else: a precision that the
pinned Lightning does not have, `mixed_precision: no` without quotes (a boolean in YAML), `"true"`
in quotes where a boolean is asked for, a loss scale of infinity, an empty `--mixed_precision=`.

## Why it hurts
`Precision 'bf16-mixed' is invalid`, `AttributeError: 'bool' object has no attribute 'lower'`: the
run dies when it starts. A quoted `"false"` is worse: to some readers it is true.

## Example
```yaml
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: no
```

## Use instead
```yaml
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: 'no'
```

## Fix safety
Safe where the fix only writes what was meant in the right form: quotes, their absence, a float.
Otherwise there is none.

## References
- Pitfalls I07, J03
- docs/frameworks.md lists every combination with its source
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.consumers.verdicts import verdicts
from precision_lint.context import ConfigFile
from precision_lint.finding import Finding, Severity
from precision_lint.fixers.repairs import repaired
from precision_lint.rule import Rule

RULE = Rule(
    code="MP705",
    name="invalid-precision-value",
    summary="a value that the framework does not take for a precision",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (
            b"defaults:",
            b"bf16",
            b"BF16",
            b"fp16",
            b"fp8",
            b"float16",
            b"loss",
            b"precision",
            b"PRECISION",
            b"dtype",
        ),
    ),
    pitfalls=("I07", "J03"),
)


def check_config(file: ConfigFile) -> Iterator[Finding]:
    for verdict in verdicts(file, RULE.name):
        yield verdict.finding(RULE, repaired(verdict))
