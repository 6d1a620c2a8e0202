"""A suppression that names no existing rule.

## What it does
Finds codes and names in suppression comments that belong to no rule, and comments
`# precision-lint: ignore` that name none: a rule has to be in brackets.

## Why it hurts
The comment silences nothing: usually the name is misspelled, and the finding that it was meant for
is still reported, or will be.

## Example
```python
scores = logits.cpu().numpy()  # precision-lint: ignore[numpy-on-bf16]
```

## Use instead
```python
scores = logits.cpu().numpy()  # precision-lint: ignore[numpy-on-bfloat16]
```

## Fix safety
No fix: the message suggests the closest name.
"""

from __future__ import annotations

from precision_lint.rule_api import Rule, Severity

RULE = Rule(
    code="MP902",
    name="unknown-suppression",
    summary="a suppression comment that names no rule",
    severity=Severity.WARNING,
    since="0.1.0",
)
