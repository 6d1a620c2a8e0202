"""Contradictory precision settings in one run.

## What it does
Finds settings in one file, or in one run, that the program cannot all follow: in SimpleTuner
`gradient_precision=fp32` with `mixed_precision=bf16`, in kohya's scripts `full_bf16` with
`mixed_precision="no"`, in gpt-neox a `bf16` section without `precision`. The linter first decides
which framework reads the file, then which of the values count. Only certain values are compared:
values that depend on an `if` or on a caller's variable are not reported, and a later flag overrides
an earlier one. In a program of one's own, the settings are those that reach its GradScaler and its
autocast regions: a scaler that is on in bfloat16 or off in float16.
[docs/frameworks.md](../frameworks.md) lists the combinations.

## Why it hurts
The run stops when it starts, or trains in a precision that nobody chose. In SimpleTuner, with
`mixed_precision=bf16` the trained weights are bfloat16. `gradient_precision=fp32` casts their
gradients to float32 after every backward pass, and AdamW, which updates all tensors at once, raises
``RuntimeError: expected dtype c10::BFloat16 for `end` but got dtype float``; the fused variant
raises `expected scalar type BFloat16 but found Float`. Gradient accumulation can already fail in
backward. This affects the releases of 2024. Newer releases overwrite the flag with the optimizer's
own choice, so it has no effect but looks as if it had.

## Example
```sh
export MIXED_PRECISION="bf16"
export TRAINER_EXTRA_ARGS="--max_grad_norm=1.0 --gradient_precision=fp32"
```

## Use instead
```sh
export MIXED_PRECISION="bf16"
export TRAINER_EXTRA_ARGS="--max_grad_norm=1.0"
```

## Fix safety
Safe if the setting is deleted, because it stops the run or has no effect, or if the framework
allows only one value. Unsafe if a comment on the same line is about the deleted setting; the
comment stays. No fix if the flag is put together from several places, or if the file is not valid.

## References
- Pitfalls J05, J06
- https://github.com/bghira/SimpleTuner/issues/854
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers.repairs import repaired
from precision_lint.rule_api import CONFIG_TRIGGERS, ConfigFile, Finding, Rule, Severity, verdicts

RULE = Rule(
    code="MP701",
    name="env-precision-conflict",
    summary="precision settings of one run that contradict each other",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=CONFIG_TRIGGERS,
    pitfalls=("J05", "J06", "N02"),
)


def check_config(file: ConfigFile) -> Iterator[Finding]:
    for verdict in verdicts(file, RULE.name):
        yield verdict.finding(RULE, repaired(verdict))
