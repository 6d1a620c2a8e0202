"""A value that the framework does not accept as a precision.

## What it does
Finds values that the framework rejects or misinterprets: a precision that the pinned Lightning does
not have, `mixed_precision: no` without quotes (a boolean in YAML), `"true"` in quotes where a
boolean is expected, a loss scale of infinity, an empty `--mixed_precision=`.

The same for a program of one's own: `--dtype half` where its table has `fp16` and `bf16`, `bf16`
where it is looked up in `torch`, a word that is none of its parser's choices, `--is_half true` with
`type=eval`, and `--fp16 False` with `type=bool`, which switches `fp16` on. A name of a dtype that
the program compares with nothing, so that it takes another dtype, is reported with less confidence.
Values that the program may not reach, or that it tests before, are not reported.

## Why it hurts
`Precision 'bf16-mixed' is invalid`, `AttributeError: 'bool' object has no attribute 'lower'`: the
run dies when it starts. A quoted `"false"` is worse: some frameworks treat it as true.

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
Safe if the fix only writes the intended value in the right form: with quotes, without quotes, as a
float. Otherwise there is no fix.

## References
- Pitfalls I07, J03
- docs/frameworks.md lists every combination with its source
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers.repairs import repaired
from precision_lint.rule_api import CONFIG_TRIGGERS, ConfigFile, Finding, Rule, Severity, verdicts

RULE = Rule(
    code="MP705",
    name="invalid-precision-value",
    summary="a value that the framework does not accept as a precision",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=CONFIG_TRIGGERS,
    pitfalls=("H05", "I07", "J03"),
)


def check_config(file: ConfigFile) -> Iterator[Finding]:
    for verdict in verdicts(file, RULE.name):
        yield verdict.finding(RULE, repaired(verdict))
