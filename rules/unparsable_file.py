"""A file that cannot be parsed.

## What it does
Reports a file that is not valid Python, YAML, JSON or TOML, or that is nested too deeply to
analyze. Python is parsed with the grammar of the interpreter that runs precision-lint. Most of the
syntax of newer releases (type parameters, `type` statements, quotes inside formatted strings,
template strings, `except A, B:`) is read as well; for the rest the message names the version of
Python that the file needs. Scripts in cells that IPython runs, with lines such as `%load_ext` and
`!pip`, are read without these lines. Configuration files that are Jinja or shell templates are
skipped with a note instead: `${...}` makes a YAML file a template only if the file is valid with a
word in its place.

Where a merge left its conflict in the file (`<<<<<<<`, `=======`, `>>>>>>>`), also in a shell
script or a notebook, the message says so, and names the line.

In a folder, a file is parsed only if its bytes contain a rule's keywords, and broken Python counts
only if it names torch, a model or the like; a file named on the command line is always parsed.

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
No fix: the file is not changed.
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
