"""A file that cannot be parsed.

## What it does
Reports a file that is not valid Python, YAML, JSON or TOML, or is nested too deeply to analyse.
Python is read with the grammar of the interpreter that runs precision-lint, so newer syntax needs
a newer interpreter; the message names the version. Jinja and shell templates of configuration files
are skipped with a note instead.

A file in a folder is only parsed when its bytes hold something that a rule looks for; a file named
on the command line always is.

## Why it hurts
Nothing in the file was checked.

## Example
```python
def step(batch:
```

## Use instead
```python
def step(batch): ...
```

## Fix safety
No fix: the bytes are left as they are.
"""

from __future__ import annotations

from precision_lint.rule_api import Rule, Severity

RULE = Rule(
    code="MP904",
    name="unparsable-file",
    summary="a file that cannot be parsed",
    severity=Severity.ERROR,
    since="0.1.0",
)
