"""Gradients forced to float32 beside bfloat16 weights.

## What it does
Finds SimpleTuner configurations that train with `mixed_precision=bf16` and ask for
`gradient_precision=fp32`: in env files (`MIXED_PRECISION`, `TRAINER_EXTRA_ARGS`), in JSON and TOML,
and on the command line of `train.py`. Only values that are certain count: what an `if` decides or a
variable of the caller brings is left alone, and a later flag overrides an earlier one.

## Why it hurts
With `mixed_precision=bf16` the trained weights are bfloat16. `gradient_precision=fp32` casts their
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
Safe: the setting is deleted, since it stops the run or has no effect. Unsafe where a comment on the
same line loses what it speaks of; the comment stays. No fix where the flag is put together from
several places, or where the file is not valid.

## References
- Pitfalls J05
- https://github.com/bghira/SimpleTuner/issues/854
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint import consumers
from precision_lint.consumers import simpletuner
from precision_lint.finding import Confidence, Finding, Severity
from precision_lint.fixers.settings import remove_setting
from precision_lint.rule import Rule
from precision_lint.source.config import ConfigFile
from precision_lint.source.shell import Assigned

RULE = Rule(
    code="MP701",
    name="env-precision-conflict",
    summary="gradient_precision=fp32 beside mixed_precision=bf16",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"gradient_precision",), (b"fp32",), (b"bf16",)),
    pitfalls=("J05",),
)


def check_config(file: ConfigFile) -> Iterator[Finding]:
    for reading in consumers.readings(file, simpletuner.NAME):
        if reading.value("mixed_precision") != "bf16":
            continue
        if reading.value("gradient_precision") != "fp32":
            continue
        if reading.value("base_model_default_dtype") == "fp32":
            continue  # the gradients of float32 weights are float32 anyway
        gradient = reading.settings["gradient_precision"]
        assert not isinstance(gradient.origin, Assigned)
        compute = reading.settings["mixed_precision"]
        yield file.finding(
            RULE,
            gradient.span,
            "`gradient_precision=fp32` contradicts `mixed_precision=bf16`: "
            "float32 gradients for bfloat16 weights",
            confidence=Confidence.HIGH,
            why="AdamW stops: expected dtype c10::BFloat16 for `end` but got dtype float "
            "(SimpleTuner of 2024; newer releases ignore the flag).",
            fix=remove_setting(file, gradient.origin, "Remove `gradient_precision`"),
            related=[file.related(compute.span, "the weights become bfloat16 here")],
        )
