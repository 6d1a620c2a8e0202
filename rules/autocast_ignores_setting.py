"""An autocast region that ignores the setting which switches autocast elsewhere.

## What it does
Finds an autocast region that is always on, in a program that has a setting for it: another region
is created with `enabled=config.train.use_amp`, or under a condition that reads such a setting. The
function of the region has the setting at hand: it reads other settings of the same object, or the
same class switches a region of another method with `self.use_amp`. A boolean option of the same
file, such as `--fp16`, counts as well if the file reads it.

Also finds a region in a function with a parameter for the setting (`use_amp`) that it never reads,
where a caller gives it a value and another function of the file asks its own parameter of this name
about the same region.

Confidence is medium if the file turns the setting off by default (a field, a parameter or an
option), in the case of such a parameter, and where another method of the same class opens the same
region with the setting. Such a program computes a part in half precision that should be in float32.
Otherwise confidence is low, so that the finding is hidden by default: on code that was not seen
before, the rule has reported nothing yet, so nobody knows how often it is right.

Not reported: regions with a float32 dtype or under a condition, functions that leave early or are
called under a condition that reads the setting, regions whose dtype is a variable, and a region in
one function with one that is switched: there the difference is meant.

## Why it hurts
There is no error. A run that turns autocast off, because a loss is not finite or to compare
numbers, still computes this part in half precision. Training and evaluation then disagree, and the
setting seems to have no influence.

## Example
```python
def train(model, loader, config):
    for batch in loader:
        with torch.autocast("cuda", enabled=config.use_amp):
            loss = model(batch)


def evaluate(model, loader, config):
    for batch in loader[: config.steps]:
        with torch.autocast("cuda"):
            model(batch)
```

## Use instead
```python
def train(model, loader, config):
    for batch in loader:
        with torch.autocast("cuda", enabled=config.use_amp):
            loss = model(batch)


def evaluate(model, loader, config):
    for batch in loader[: config.steps]:
        with torch.autocast("cuda", enabled=config.use_amp):
            model(batch)
```

## Fix safety
Unsafe: `enabled=` makes runs with the setting off compute in another precision than before.

## References
- Pitfall C10
- https://github.com/ZFTurbo/Music-Source-Separation-Training
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Finding,
    Fix,
    Ignoring,
    PythonFile,
    Related,
    Rule,
    Severity,
    ignoring,
)

RULE = Rule(
    code="MP222",
    name="autocast-ignores-setting",
    summary="an autocast region that ignores the setting that controls the others",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=((b"autocast",), (b"torch",)),
    pitfalls=("C10",),
)


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in ignoring(file):
        switch = found.switch
        off = []
        if found.off is not None:
            off = [file.related(file.span_of(found.off), f"`{switch.name}` is off by default")]
        place = switch.file.text.place(switch.file.span_of(switch.node))
        yield file.finding(
            RULE,
            file.span_of(found.made.node),
            f"autocast is always on here, and ignores `{switch.path}` "
            f"({place.path.name}:{place.start.row})",
            confidence=Confidence.LOW if found.off is None else Confidence.MEDIUM,
            why=f"With `{switch.name}` off, this code still computes in half precision.",
            fix=_fix(found, file),
            related=[Related(place, f"`{switch.name}` turns half precision on here"), *off],
        )


def _fix(found: Ignoring, file: PythonFile) -> Fix | None:
    if found.made.argument("enabled") is not None:
        return None
    edit = calls.add_keyword(file, file.span_of(found.made.node), "enabled", found.switch.path)
    if edit is None:
        return None
    return Fix(Applicability.UNSAFE, f"Let `{found.switch.path}` switch the region", (edit,))
