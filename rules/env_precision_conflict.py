"""Precision settings of one run that contradict each other.

## What it does
Finds settings in one file, or in one run, that the program which reads them cannot all follow: in
SimpleTuner `gradient_precision=fp32` beside `mixed_precision=bf16`, in kohya's scripts `full_bf16`
beside `mixed_precision="no"`, in gpt-neox a `bf16` section without `precision`. Who reads the file
is decided first, then which of its values count. Only values that are certain are compared: what an
`if` decides or a variable of the caller brings is left alone, and a later flag overrides an earlier
one. [docs/frameworks.md](../frameworks.md) has the combinations.

## Why it hurts
The run stops when it starts, or trains in a precision that nobody chose. In SimpleTuner, with
`mixed_precision=bf16` the trained weights are bfloat16. `gradient_precision=fp32` casts their
gradients to float32 after every backward pass, and AdamW, which updates all tensors at once, stops:
``RuntimeError: expected dtype c10::BFloat16 for `end` but got dtype float``; the fused variant says
`expected scalar type BFloat16 but found Float`. Gradient accumulation can already fail in backward.
This holds for the releases of 2024. Newer ones overwrite the flag with the optimizer's own choice,
so that it does nothing but look as if it did.

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
Safe where the setting is deleted, since it stops the run or has no effect, or where the framework
allows one value alone. Unsafe where a comment on the same line loses what it speaks of; the comment
stays. No fix where the flag is put together from several places, or where the file is not valid.

## References
- Pitfalls J05
- https://github.com/bghira/SimpleTuner/issues/854
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.consumers.verdicts import verdicts
from precision_lint.context import ConfigFile
from precision_lint.finding import Finding, Severity
from precision_lint.fixers.repairs import repaired
from precision_lint.rule import Rule

RULE = Rule(
    code="MP701",
    name="env-precision-conflict",
    summary="precision settings of one run that contradict each other",
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
            b"precision",
            b"PRECISION",
            b"dtype",
            b'"amp"',
        ),
    ),
    pitfalls=("J05",),
)


def check_config(file: ConfigFile) -> Iterator[Finding]:
    for verdict in verdicts(file, RULE.name):
        yield verdict.finding(RULE, repaired(verdict))
