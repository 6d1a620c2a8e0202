"""A switch of precision that its option does not change.

## What it does
Finds options of argparse that are about precision (`--fp16`, `--bf16`, `--use_amp`,
`--no-mixed-precision`) and have one value, whether they are given or not: `action="store_true"`
with `default=True`, `action="store_false"` with `default=False`, and `type=bool` with
`default=True`.

Not reported: a switch with a second option for the other value (`dest="fp16"`, or `--no_amp` next
to `--amp`), one that another option overrides wherever the file reads it (`args.bf16 and not
args.fp16`), one that the file gives a value later (`args.fp16 = …`, `set_defaults(fp16=False)`,
`setattr(args, name, value)`), and `type=bool` for parsers of jsonargparse, which read `false`.
Confidence is low for an option that the program declares itself and that nothing reads.

## Why it hurts
There is no way to turn it off: the program runs in half precision on GPUs that cannot, and a run
that is meant as the float32 baseline is none. With both `--fp16` and `--bf16` always on, a trainer
refuses to start: `ValueError: At most one of fp16 and bf16 can be True, but not both`. With
`type=bool`, every word is true, also `False`.

## Example
```python
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--bf16", action="store_true", default=True)
args = parser.parse_args()
```

## Use instead
```python
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--bf16", action=argparse.BooleanOptionalAction, default=True)  # --no-bf16
args = parser.parse_args()
```

## Fix safety
There is no fix: whether the default or the action is wrong is not seen.

## References
- https://docs.python.org/3/library/argparse.html#action
- https://docs.python.org/3/library/argparse.html#type
- Pitfall J03
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    FixedSwitch,
    PythonFile,
    Rule,
    Severity,
    fixed_switches,
    is_declared_in_vain,
)

RULE = Rule(
    code="MP614",
    name="switch-always-on",
    summary="a switch of precision that its option does not change",
    severity=Severity.WARNING,
    since="0.1.0",
    triggers=((b"add_argument",), (b"store_true", b"store_false", b"bool"), (b"default",)),
    pitfalls=("J03",),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for switch in fixed_switches(file):
        state = "on" if switch.always else "off"
        is_idle = is_declared_in_vain(switch.option, file, file.project)
        yield file.finding(
            RULE,
            file.span_of(switch.default),
            f"`{switch.option}` is always {state}: {_cause(switch)}",
            confidence=Confidence.LOW if is_idle else Confidence.HIGH,
            why=_why(switch),
        )


def _cause(switch: FixedSwitch) -> str:
    if switch.is_bool:
        return "its default is True, and `type=bool` makes every word true"
    return f"its default is {switch.always}, and that is what the option stores"


def _why(switch: FixedSwitch) -> str:
    if switch.is_bool:
        return f"`{switch.option} False` gives True: the text 'False' is not empty."
    return f"It is {switch.always} with `{switch.option}` and without it."
