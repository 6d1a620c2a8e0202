"""TODO: the title of the page.

## What it does
Finds calls of `torch.example`. TODO: what it finds, and what it does not.

## Why it hurts
TODO: what goes wrong, with the exact error message.

## Example
```python
x = torch.example()  # TODO
```

## Use instead
```python
x = torch.zeros(2)  # TODO
```

## Fix safety
There is no fix. TODO: or what it changes, and when it is unsafe.

## References
- TODO: an issue, a page of documentation
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import Call, Confidence, Finding, PythonFile, Rule, Severity

RULE = Rule(
    code="MP609",
    name="default-dtype-left-on",
    summary="TODO: what it finds, in one line",
    severity=Severity.WARNING,
    since="0.1.0",
    triggers=((b"torch",), (b"example",)),
    calls=frozenset({"example"}),
    preview=True,
)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    if call.function == "torch.example":
        yield file.finding(
            RULE,
            call.span,
            "TODO: what is wrong here",
            confidence=Confidence.HIGH,
            why="TODO: what follows from it",
        )
