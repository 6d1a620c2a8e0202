"""A precision option that the program reads and its parser does not have.

## What it does
Finds attributes about precision that a program reads of its parsed arguments (`args.bfloat16`),
where no option makes them: `--bf16` makes `args.bf16`. Only for parsers of argparse all of whose
options are in sight, and where all that is done with the arguments is seen. Silent where anything
may give them the attribute: `set_defaults`, `setattr`, `args.bfloat16 = …` in any file of the
program, a table of settings that is put over them, subcommands, a namespace of another kind, and
where the program asks first (`hasattr`, `getattr`, `try`).

## Why it hurts
The run stops where the attribute is read: `AttributeError: 'Namespace' object has no attribute
'bfloat16'`. That may be after the model is loaded, or only in the branch that nobody tried.

## Example
```python
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--bf16", action="store_true")
args = parser.parse_args()
dtype = torch.bfloat16 if args.bfloat16 else torch.float16
```

## Use instead
```python
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--bf16", action="store_true")
args = parser.parse_args()
dtype = torch.bfloat16 if args.bf16 else torch.float16
```

## Fix safety
There is no fix: whether another option is meant, or one is missing, is not seen.

## References
- https://docs.python.org/3/library/argparse.html#the-namespace-object
- Pitfall J03
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Related,
    Rule,
    Severity,
    unmade_options,
)

RULE = Rule(
    code="MP615",
    name="missing-precision-option",
    summary="a precision option that the program reads and its parser does not have",
    severity=Severity.ERROR,
    since="0.1.0",
    triggers=(
        (b"argparse",),
        (b"parse_args",),
        (b"16", b"32", b"dtype", b"precision", b"amp", b"half", b"8bit", b"4bit", b"autocast"),
    ),
    preview=True,
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for read in unmade_options(file, file.project):
        name, made = read.node.attr, read.made
        has = ", ".join(f"`{one}`" for one in read.like) or "no option of precision"
        parser = made.file.text.place(made.file.span_of(made.parser))
        yield file.finding(
            RULE,
            file.span_of(read.node),
            f"no option makes `{name}`: the parser has {has}",
            confidence=Confidence.HIGH,
            why=f"AttributeError: 'Namespace' object has no attribute {name!r}",
            related=[Related(parser, "its parser")],
        )
