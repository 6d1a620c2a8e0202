"""Arguments that autocast, a GradScaler or their decorators do not take.

## What it does
Finds calls of `autocast`, `GradScaler`, `custom_fwd` and `custom_bwd` that do not fit the signature
of the class that they name: a keyword that it does not have, a missing `device_type`, too many
arguments, and a first argument that is certain to be of another type. The old API in
`torch.cuda.amp` and `torch.cpu.amp` is for one device and takes none; the new API in `torch.amp`
needs the device first.

## Why it hurts
Most of these raise where the line is reached:
`TypeError: autocast.__new__() got an unexpected keyword argument 'device_type'`,
`TypeError: custom_fwd() missing 1 required keyword-only argument: 'device_type'`,
`ValueError: Expected `device_type` of type `str`, got: `<class 'bool'>``.
`torch.cuda.amp.autocast("cuda")` raises only on a machine with CUDA, where the region is entered:
`TypeError: set_autocast_enabled(): argument 'enabled' (position 2) must be bool, not str`.
`torch.amp.GradScaler(2.0**12)` and `torch.amp.GradScaler(use_amp is True)` do not raise: the value
is taken for the device, the initial scale stays at 65536, and the scaler is always on.

## Example
```python
with torch.cuda.amp.autocast(device_type="cuda", dtype=torch.bfloat16):
    loss = model(batch)
```

## Use instead
```python
with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
    loss = model(batch)
```

## Fix safety
Safe: a call of an old class with the arguments of the new one gets the name of the new class, if
it is written in full (`torch.cuda.amp.autocast`), because it could only raise before. There is no
fix where a device type is missing, or where a value may be meant for one of several parameters.

## References
- Pitfall C01
- https://docs.pytorch.org/docs/stable/amp.html
- https://github.com/pytorch/tutorials/issues/3331
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    SIGNATURES,
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Mismatch,
    PythonFile,
    Rule,
    Severity,
    WrongCall,
    is_for_another_version,
    syntax_tree,
    wrong_calls,
)

RULE = Rule(
    code="MP221",
    name="amp-call-arguments",
    summary="arguments that autocast, a GradScaler or their decorators do not take",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"autocast", b"GradScaler", b"custom_fwd", b"custom_bwd"), (b"torch",)),
    pitfalls=("C01",),
)

_RENAMED = {
    name: "torch.autocast" if name.endswith("autocast") else "torch.amp.GradScaler"
    for name in SIGNATURES
    if name.startswith(("torch.cuda", "torch.cpu")) and name.endswith(("autocast", "GradScaler"))
}
"""The classes for one device, and those that take the device as an argument."""


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    for wrong in wrong_calls(file):
        node = wrong.call or wrong.reference.node
        is_meant = is_for_another_version(node, wrong.reference.at, file.text)
        if not (is_meant or syntax.may_fail_on_purpose(node)):
            yield _finding(wrong, file)


def _finding(wrong: WrongCall, file: PythonFile) -> Finding:
    is_kind = wrong.mismatch is Mismatch.KIND
    is_ignored = is_kind and wrong.argument == "device"
    place = wrong.given if is_kind and wrong.given is not None else wrong.reference.node
    return file.finding(
        RULE,
        file.span_of(place),
        _message(wrong, file),
        severity=Severity.WARNING if is_ignored else Severity.ERROR,
        confidence=Confidence.HIGH,
        why=_why(wrong, is_ignored),
        fix=_fix(wrong, file),
    )


def _message(wrong: WrongCall, file: PythonFile) -> str:
    name = f"`{wrong.qualified}`"
    match wrong.mismatch:
        case Mismatch.UNEXPECTED:
            return f"{name} has no parameter `{wrong.argument}`"
        case Mismatch.MISSING:
            return f"{name} needs a `{wrong.argument}`"
        case Mismatch.TOO_MANY:
            return f"{name} takes {len(wrong.signature.positional)} arguments by position"
        case Mismatch.KIND:
            assert wrong.given is not None
            given = file.text[file.span_of(wrong.given)]
            return f"`{given}` is passed as the `{wrong.argument}` of {name}"


def _why(wrong: WrongCall, is_ignored: bool) -> str:
    if is_ignored:
        return "No error: the value is ignored, and the scaler is on, with its defaults."
    match wrong.mismatch, wrong.argument:
        case Mismatch.UNEXPECTED, argument:
            return f"TypeError: got an unexpected keyword argument '{argument}'."
        case Mismatch.MISSING, argument:
            return f"TypeError: missing 1 required argument: '{argument}'."
        case Mismatch.TOO_MANY, _:
            return "TypeError: too many positional arguments."
        case _, "device_type":
            return "ValueError: Expected `device_type` of type `str`."
        case _, "enabled":
            return "TypeError: set_autocast_enabled(): argument 'enabled' must be bool, on CUDA."
    return "It is not a number: the first scaled loss raises TypeError."


def _fix(wrong: WrongCall, file: PythonFile) -> Fix | None:
    """The class that takes these arguments, where the old one is written in full."""
    new = _RENAMED.get(wrong.qualified)
    is_device = wrong.argument in {"device", "device_type"} or wrong.mismatch is Mismatch.KIND
    if new is None or wrong.call is None or not is_device:
        return None
    span = file.span_of(wrong.reference.node)
    if file.text[span] != wrong.qualified or not _fits(wrong.call, new):
        return None
    return Fix(Applicability.SAFE, f"Use `{new}`", (Edit(span, new),))


def _fits(call: ast.Call, new: str) -> bool:
    """True if the arguments of a call are those of another class, the device among them."""
    signature = SIGNATURES[new]
    given = [*signature.positional[: len(call.args)], *(each.arg for each in call.keywords)]
    is_known = all(name in signature.names for name in given)
    return is_known and len(set(given)) == len(given) and signature.positional[0] in given
