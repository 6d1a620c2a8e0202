"""A precision setting that has no effect because another one overrides it.

## What it does
Finds settings that the framework drops without an error because another setting overrides them:
axolotl with `bf16: true` and `fp16: true`, a launcher whose precision the script overrides, `--fp16
--bf16` for a program of one's own that asks for `fp16` first. Equal values are fine, and
unknown values are not reported. Confidence is low in tests, benchmarks and vendored code.

## Why it hurts
The run trains in a different precision than the file says. Nothing is printed; it only shows in the
memory use or in the loss.

## Example
```yaml
base_model: org/model
sequence_len: 2048
sample_packing: true
micro_batch_size: 2
bf16: true
fp16: true
```

## Use instead
```yaml
base_model: org/model
sequence_len: 2048
sample_packing: true
micro_batch_size: 2
bf16: true
```

## Fix safety
Safe if the overridden setting is removed and nothing else changes. Display only if the fix would
have to guess which of the two was meant.

## References
- Pitfalls J04, J05
- docs/frameworks.md lists every combination with its source
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers.repairs import repaired
from precision_lint.rule_api import CONFIG_TRIGGERS, ConfigFile, Finding, Rule, Severity, verdicts

RULE = Rule(
    code="MP706",
    name="overridden-precision-setting",
    summary="a precision setting that another one overrides",
    severity=Severity.WARNING,
    since="0.1.0",
    fix="sometimes",
    triggers=CONFIG_TRIGGERS,
    pitfalls=("J04", "J05"),
)


def check_config(file: ConfigFile) -> Iterator[Finding]:
    for verdict in verdicts(file, RULE.name):
        yield verdict.finding(RULE, repaired(verdict))
