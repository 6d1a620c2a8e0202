"""An autocast device type that is not a plain device type.

## What it does
Finds `torch.autocast(...)` with a device type that is not a plain type such as `"cuda"`: a
`torch.device`, a GPU number, a string with an index (`"cuda:0"`, `str(device)`, `f"cuda:{rank}"`),
or a name that torch does not know (`"auto"`, `"gpu"`). A device that is passed in by a caller is
not reported, unless it is annotated as `torch.device`.

## Why it hurts
Autocast takes the type of a device, not a device. For a device object torch 2.13 raises
`ValueError: Expected `device_type` of type `str`, got: `<class 'torch.device'>``, and for an
unknown name
`RuntimeError: Expected one of cpu, cuda, ... device type at start of device string: gpu`. A string
with an index raises before torch 2.4,
`RuntimeError: User specified an unsupported autocast device_type 'cuda:0'`; later releases accept
it, but skip the check that they make for `"cuda"` only: whether the GPU supports bfloat16. So a
string with an index has low confidence unless the requirements closest to the file allow such a
release.

## Example
```python
device = torch.device("cuda:0")
with torch.autocast(device, dtype=torch.bfloat16):
    loss = model(batch)
```

## Use instead
```python
device = torch.device("cuda:0")
with torch.autocast(device.type, dtype=torch.bfloat16):
    loss = model(batch)
```

## Fix safety
Safe where every run raised before: `.type` after a `torch.device`, `"cuda"` for `"gpu"`. Also safe
for a string with an index if the region's dtype is float16, bfloat16 or the default, which torch
treats the same way for `"cuda"` and `"cuda:0"`. Unsafe for other dtypes, and where the index comes
from a call. There is no fix for `"auto"`.

## References
- Pitfall C02
- https://github.com/speechbrain/speechbrain/issues/2881
- https://github.com/Parskatt/RoMa/issues/56
- https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    Applicability,
    AutocastCall,
    Confidence,
    Device,
    DeviceKind,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Span,
    SyntaxTree,
    autocasts,
    device_of,
    oldest_torch,
    qualified,
    regex,
    syntax_tree,
)

RULE = Rule(
    code="MP208",
    name="autocast-device-type",
    summary="an autocast device type that is a device, has an index, or is unknown to torch",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"autocast",), (b"torch",)),
    pitfalls=("C02",),
)

_INDEXED = regex(r"(cpu|cuda|mps|xpu|xla|hpu|mtia|ipu|maia):")
_MEANT = {"gpu": "cuda", "rocm": "cuda", "hip": "cuda", "nvidia": "cuda", "cuda": "cuda"}
"""Names that torch does not take, in lower case, and what they mean."""
_UNKNOWN = frozenset({*_MEANT, "auto", "tpu", "meta"})
"""Any other name may be that of a backend which registers itself."""
_ACCEPTED_SINCE = (2, 4)
"""The first release that takes a string with an index."""


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    for made in autocasts(syntax):
        given = made.argument("device_type") if made.is_generic else None
        if given is not None and not syntax.may_fail_on_purpose(made.node):
            yield from _judged(given, made, file, syntax)


def _judged(
    given: ast.expr, made: AutocastCall, file: PythonFile, syntax: SyntaxTree
) -> Iterator[Finding]:
    match device_of(given, syntax):
        case Device(DeviceKind.OBJECT):
            yield _finding(
                given,
                f"{_text(given, file)} is a `torch.device`: autocast needs its type",
                "ValueError: Expected `device_type` of type `str`.",
                _append_type(given, file),
                file,
            )
        case Device(DeviceKind.ORDINAL):
            backend = qualified(given.func, syntax.names) if isinstance(given, ast.Call) else ""
            fix = _replace(given, backend.split(".")[1], file) if backend else None
            yield _finding(
                given,
                f"{_text(given, file)} is a device number: autocast needs a device type",
                "ValueError: Expected `device_type` of type `str`.",
                fix,
                file,
            )
        case Device(DeviceKind.STRING, text) if _is_unknown(text):
            meant = _MEANT.get(text.lower())
            is_literal = isinstance(given, ast.Constant)
            yield _finding(
                given,
                f'"{text}" is not a device type of torch',
                f"RuntimeError: Expected one of cpu, cuda, … device type at start of device "
                f"string: {text}.",
                _replace(given, meant, file) if meant and is_literal else None,
                file,
            )
        case Device(DeviceKind.STRING, text) if indexed := _INDEXED.match(text):
            is_inline = isinstance(given, ast.Constant | ast.JoinedStr)
            computes = any(isinstance(node, ast.Call) for node in ast.walk(given))
            applicability = Applicability.UNSAFE if computes else _applicability(made, syntax)
            fix = _replace(given, indexed[1], file, applicability)
            yield _indexed(given, fix if is_inline else None, file)
        case None if (device := _printed(given)) is not None:
            yield from _of_string(given, device, made, file, syntax)


def _of_string(
    given: ast.expr, device: ast.expr, made: AutocastCall, file: PythonFile, syntax: SyntaxTree
) -> Iterator[Finding]:
    """`str(x.device)`: that of a tensor on a GPU always has an index."""
    match device:
        case ast.Attribute(value=ast.Name(id="self")):
            return  # it may have been made of "cuda"
        case ast.Attribute() if device_of(device, syntax) == Device(DeviceKind.OBJECT):
            type_of = f"{file.text[file.span_of(device)]}.type"
            edit = Edit(file.span_of(given), type_of)
            fix = Fix(_applicability(made, syntax), "Give the type of the device", (edit,))
            yield _indexed(given, fix, file)


def _printed(given: ast.expr) -> ast.expr | None:
    """What `str(device)` and `f"{device}"` print."""
    match given:
        case ast.Call(func=ast.Name(id="str"), args=[device], keywords=[]):
            return device
        case ast.JoinedStr(values=[ast.FormattedValue(value=device, conversion=-1)]):
            return device
    return None


def _is_unknown(text: str) -> bool:
    return text.lower() in _UNKNOWN and text != "cuda"


def _indexed(given: ast.expr, fix: Fix | None, file: PythonFile) -> Finding:
    """A string that has an index, or that has one where the device has."""
    version = oldest_torch(file)
    is_old = version is not None and version < _ACCEPTED_SINCE
    release = ".".join(map(str, version)) if version is not None else "2.13, which is assumed here,"
    has = "has" if isinstance(given, ast.Constant) else "can have"
    return file.finding(
        RULE,
        file.span_of(given),
        f"{_text(given, file)} {has} an index: autocast needs a plain device type",
        severity=Severity.WARNING,
        confidence=Confidence.MEDIUM if is_old else Confidence.LOW,
        why=f"torch {release} raises `unsupported autocast device_type 'cuda:0'`."
        if is_old
        else f"torch {release} takes an index, but does not check then whether the GPU has "
        "bfloat16. torch raises before 2.4.",
        fix=fix,
    )


def _finding(given: ast.expr, message: str, why: str, fix: Fix | None, file: PythonFile) -> Finding:
    return file.finding(
        RULE, file.span_of(given), message, confidence=Confidence.HIGH, why=why, fix=fix
    )


def _text(given: ast.expr, file: PythonFile) -> str:
    return f"`{file.text[file.span_of(given)]}`"


def _append_type(given: ast.expr, file: PythonFile) -> Fix:
    span = file.span_of(given)
    is_tight = isinstance(given, ast.Name | ast.Attribute | ast.Call)
    start, end = Span(span.start, span.start), Span(span.end, span.end)
    edits = (Edit(end, ".type"),) if is_tight else (Edit(start, "("), Edit(end, ").type"))
    return Fix(Applicability.SAFE, "Give the type of the device", edits)


def _replace(
    given: ast.expr,
    device: str,
    file: PythonFile,
    applicability: Applicability = Applicability.SAFE,
) -> Fix:
    text = file.text[file.span_of(given)]
    quote = "'" if "'" in text and '"' not in text else '"'
    edit = Edit(file.span_of(given), f"{quote}{device}{quote}")
    return Fix(applicability, f'Use "{device}"', (edit,))


def _applicability(made: AutocastCall, syntax: SyntaxTree) -> Applicability:
    """Whether torch treats `"cuda:0"` and `"cuda"` alike: not for every dtype."""
    dtype = made.argument("dtype")
    is_half = dtype is None or qualified(dtype, syntax.names) in {
        "torch.float16",
        "torch.half",
        "torch.bfloat16",
    }
    return Applicability.SAFE if is_half and not made.has_stars else Applicability.UNSAFE
