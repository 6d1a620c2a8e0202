"""An autocast dtype that autocast does not support.

## What it does
Finds autocast regions whose dtype makes them raise or disables them: a string (`dtype="bfloat16"`),
a bool in the position of the dtype (`torch.autocast("cuda", use_amp)`), a dtype in the position of
`enabled` (`torch.cuda.amp.autocast(torch.bfloat16)`), and, on CPU, XPU and MPS, a dtype other than
float16 and bfloat16. So is float32 on a device that the file chooses between CUDA and the CPU, if
the file has another region, in half precision: around it, the inner one is to give float32.
float32 on CUDA is not reported: autocast is on there, and casts half-precision inputs to float32.

## Why it hurts
A value that is not a dtype raises when the region is entered,
`TypeError: set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not str`, on
the GPU, after everything else has been loaded. float32 on CPU does not raise: the region is
disabled, with
`UserWarning: In CPU autocast, but the target dtype is not supported. Disabling autocast.`
What is bfloat16 already stays so.

## Example
```python
with torch.autocast("cuda", use_amp):
    loss = model(batch)
with torch.autocast("cpu", dtype="bfloat16"):
    score = model(batch)
```

## Use instead
```python
with torch.autocast("cuda", enabled=use_amp):
    loss = model(batch)
with torch.autocast("cpu", dtype=torch.bfloat16):
    score = model(batch)
```

## Fix safety
Safe: inserting `enabled=` or `dtype=` before an argument in the wrong position, and replacing the
name of a dtype with the `torch.dtype`, repair code that could only raise. Adding `enabled=False` to
a dtype that disables the region states what already happens; the dtype stays, because nested
regions may read it.

## References
- Pitfall C03
- https://github.com/pytorch/pytorch/issues/100565
- https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers import calls, dtype_names
from precision_lint.fixers.wrapping import edit_joined
from precision_lint.rule_api import (
    ALIASES,
    BFLOAT16,
    FLOAT16,
    Applicability,
    AutocastCall,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Span,
    SyntaxTree,
    attribute,
    autocasts,
    binding,
    enclosing_class,
    qualified,
    syntax_tree,
)

RULE = Rule(
    code="MP209",
    name="autocast-unsupported-dtype",
    summary="an autocast dtype that raises, or that turns the region off",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"autocast",), (b"torch",)),
    pitfalls=("C03",),
)

_PICKY = {"cpu": "CPU", "xpu": "XPU", "mps": "MPS"}
"""Device types on which autocast turns itself off for other dtypes than these."""
_SUPPORTED = frozenset({BFLOAT16, FLOAT16})
_DEPTH = 4


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    for made in autocasts(syntax):
        if syntax.may_fail_on_purpose(made.node):
            continue
        dtype, enabled = made.argument("dtype"), made.argument("enabled")
        if enabled is not None and _is_dtype(_kinds(enabled, syntax)):
            yield _misplaced(made, enabled, "dtype", file)
        if dtype is None:
            continue
        kinds = _kinds(dtype, syntax)
        if kinds == {bool}:
            yield _misplaced(made, dtype, "enabled", file)
        elif kinds == {str}:
            yield _string(dtype, file)
        elif _is_dtype(kinds):
            yield from _unsupported(made, dtype, kinds, file)


_Kind = str | type
"""The name of a dtype, or the type of a value that is not a dtype."""


def _is_dtype(kinds: frozenset[_Kind]) -> bool:
    return bool(kinds) and all(isinstance(kind, str) for kind in kinds)


def _kinds(node: ast.expr, syntax: SyntaxTree, depth: int = _DEPTH) -> frozenset[_Kind]:
    """What an expression can be; nothing if that is not certain."""
    values: list[ast.expr] = []
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return frozenset({bool})
        case ast.Constant(value=str()):
            return frozenset({str})
        case ast.IfExp(body=body, orelse=orelse):
            values = [body, orelse]
        case ast.BoolOp():
            values = node.values
        case ast.Name():
            match binding(node, syntax):
                case ast.arg(annotation=ast.Name(id="bool")):
                    return frozenset({bool})
                case [*assigned]:
                    values = assigned
        case ast.Attribute(value=ast.Name(id="self")) if owner := enclosing_class(node, syntax):
            values = attribute(node, owner, syntax) or []
        case ast.Attribute(attr=attr) if attr in ALIASES:
            is_dtype = qualified(node, syntax.names) == f"torch.{attr}"
            return frozenset({ALIASES[attr]}) if is_dtype else frozenset()
    found = [_kinds(value, syntax, depth - 1) for value in values] if depth else []
    return frozenset().union(*found) if all(found) else frozenset()


def _misplaced(made: AutocastCall, given: ast.expr, meant: str, file: PythonFile) -> Finding:
    """A bool that is passed as the dtype, or a dtype that is passed as `enabled`."""
    place, kind = ("dtype", "a bool") if meant == "enabled" else ("enabled", "a dtype")
    wanted = "torch.dtype, not bool" if meant == "enabled" else "bool, not torch.dtype"
    fix = None
    if _is_last_and_bare(given, made, file) and made.argument(meant) is None:
        start = file.span_of(given).start
        edit = Edit(Span(start, start), f"{meant}=")
        fix = Fix(Applicability.SAFE, f"Name the argument: `{meant}=`", (edit,))
    return file.finding(
        RULE,
        file.span_of(given),
        f"`{file.text[file.span_of(given)]}` is {kind} but is passed as `{place}`",
        confidence=Confidence.HIGH,
        why=f"TypeError: set_autocast_{place}(): argument '{place}' (position 2) must be {wanted}.",
        fix=fix,
    )


def _is_last_and_bare(given: ast.expr, made: AutocastCall, file: PythonFile) -> bool:
    """True if `given` can become a keyword: the last positional argument, not parenthesized."""
    if not made.node.args or given is not made.node.args[-1]:
        return False
    previous = made.node.args[-2] if len(made.node.args) > 1 else made.node.func
    between = Span(file.span_of(previous).end, file.span_of(given).start)
    return file.text[between].strip() in {",", "("}


def _string(given: ast.expr, file: PythonFile) -> Finding:
    span = file.span_of(given)
    edit = dtype_names.as_dtype(file, span)
    is_usable = edit is not None and edit.content.removeprefix("torch.") in _SUPPORTED
    fix = Fix(Applicability.SAFE, f"Use `{edit.content}`", (edit,)) if edit and is_usable else None
    return file.finding(
        RULE,
        span,
        f"autocast needs a `torch.dtype`, but `{file.text[span]}` is a string",
        confidence=Confidence.HIGH,
        why="TypeError: set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, "
        "not str.",
        fix=fix,
    )


def _unsupported(
    made: AutocastCall, given: ast.expr, dtypes: frozenset[_Kind], file: PythonFile
) -> Iterator[Finding]:
    """A dtype that turns the region off on this device, for each of its possible values."""
    device = _PICKY.get(made.device or "")
    if dtypes & _SUPPORTED or made.is_off or made.has_stars:
        return
    names = " or ".join(sorted(map(str, dtypes)))
    if made.device is None:
        yield from _unsupported_on_cpu(made, given, names, file)
    if device is None:
        return
    yield file.finding(
        RULE,
        file.span_of(given),
        f"autocast on {device} does not support {names}: the region is off",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        why=f"UserWarning: In {device} autocast, but the target dtype is not supported. Disabling "
        "autocast. Use bfloat16 or float16, or turn the region off.",
        fix=_turn_off(made, file),
    )


def _unsupported_on_cpu(
    made: AutocastCall, given: ast.expr, names: str, file: PythonFile
) -> Iterator[Finding]:
    """Such a dtype where the device is CUDA or the CPU, beside a region in half precision."""
    syntax = syntax_tree(file)
    device = made.argument("device_type")
    cpu = None if device is None else _perhaps_cpu(device, syntax)
    others = (
        other.node
        for other in autocasts(syntax)
        if other.node is not made.node and not other.is_off and _is_half(other, syntax)
    )
    around = next(others, None)
    if cpu is not None and around is not None:
        yield file.finding(
            RULE,
            file.span_of(given),
            f"autocast on CPU, which the device can be, does not support {names}: the region is "
            "off there",
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            why="UserWarning: In CPU autocast, but the target dtype is not supported. Disabling "
            "autocast. Half-precision inputs keep their dtype: cast them with `.float()`.",
            related=[
                file.related(file.span_of(cpu), "the CPU is chosen here"),
                file.related(file.span_of(around), "this region gives half precision"),
            ],
        )


def _is_half(made: AutocastCall, syntax: SyntaxTree) -> bool:
    dtype = made.argument("dtype")
    return dtype is not None and bool(_kinds(dtype, syntax) & _SUPPORTED)


def _perhaps_cpu(node: ast.expr, syntax: SyntaxTree, depth: int = _DEPTH) -> ast.expr | None:
    """Where a device is chosen to be the CPU or CUDA: `"cuda" if … else "cpu"`."""
    match node:
        case ast.IfExp(body=ast.Constant(value=str(one)), orelse=ast.Constant(value=str(other))):
            devices = {name.partition(":")[0] for name in (one, other)}
            return node if devices == {"cpu", "cuda"} else None
        case ast.Call(args=[device]) if qualified(node.func, syntax.names) == "torch.device":
            return _perhaps_cpu(device, syntax, depth - 1) if depth else None
        case ast.Attribute(value=owner, attr="type"):
            return _perhaps_cpu(owner, syntax, depth - 1) if depth else None
        case ast.Name() if depth:
            match binding(node, syntax):
                case [value]:
                    return _perhaps_cpu(value, syntax, depth - 1)
    return None


def _turn_off(made: AutocastCall, file: PythonFile) -> Fix | None:
    """`enabled=False`; an existing value of `enabled` is replaced unless it contains a call."""
    message = "Turn the region off with `enabled=False`"
    for keyword in made.node.keywords:
        if keyword.arg == "enabled":
            if any(isinstance(each, ast.Call) for each in ast.walk(keyword.value)):
                return None
            edit = Edit(file.span_of(keyword.value), "False")
            return Fix(Applicability.SAFE, message, (edit,))
    if made.argument("enabled") is not None:
        return None  # by position
    span = file.span_of(made.node)
    added = calls.add_keyword(file, span, "enabled", "False")
    edits = edit_joined(file, span, added, file.import_style)
    return Fix(Applicability.SAFE, message, edits) if edits else None
