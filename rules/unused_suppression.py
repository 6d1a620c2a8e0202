"""A suppression that silences nothing.

## What it does
Finds the codes and names in `# noqa: MP...` and `# precision-lint: ignore[...]` comments for which
there is no finding on the line.

## Why it hurts
An unused suppression hides the next real mistake on its line, and suggests to readers that there is
one.

## Example
```python
loss = loss.float().cpu().numpy()  # noqa: MP101
```

## Use instead
```python
loss = loss.float().cpu().numpy()
```

## Fix safety
Safe: removes the name, or the whole comment if it was the only name. Nothing but the comment
changes. Codes of other linters and a bare `# noqa` are not touched.
"""

from __future__ import annotations

from precision_lint.rule_api import Rule, Severity

RULE = Rule(
    code="MP901",
    name="unused-suppression",
    summary="a suppression comment that silences nothing",
    severity=Severity.WARNING,
    since="0.1.0",
    fix="always",
)
