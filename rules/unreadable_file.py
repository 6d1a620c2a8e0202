"""A file that cannot be read.

## What it does
Reports a file that cannot be opened, or whose bytes are not text in the encoding that it declares
(Python: its encoding cookie, or UTF-8 by default; all other files: UTF-8).

In a folder, a file is decoded only if its bytes contain a rule's keywords; a file named on the
command line is always decoded.

## Why it hurts
Nothing in the file was checked.

## Example
A Python file saved as Latin-1 without an encoding cookie.

## Use instead
Save it as UTF-8, or declare the encoding in the first line:
```python
# -*- coding: latin-1 -*-
```

## Fix safety
No fix: the file is not changed.
"""

from __future__ import annotations

from precision_lint.rule_api import Rule, Severity

RULE = Rule(
    code="MP903",
    name="unreadable-file",
    summary="a file that cannot be opened or decoded",
    severity=Severity.ERROR,
    since="0.1.0",
)
