"""A name of a dtype that torch does not have.

## What it does
Finds names such as `bf16`, `fp16`, `fp32` and `torch.bfloat16` where they are looked up in `torch`:
in `getattr(torch, name)`, and as `dtype=` or `torch_dtype=` of a model of transformers. The name
may be a literal, the default of a parameter, what a call in the same file gives to that parameter,
or a default or a choice that an argument parser or a class of settings declares.

Not reported: `getattr` with a third argument, `getattr` in `try:`, a name that a condition or a
table turns into a dtype before, settings that the code assigns after it has read them, and the
default of a field that every call gives which makes its class. Values in configuration files and
launch scripts are covered by `invalid-precision-value`, as are `bnb_4bit_compute_dtype="bf16"` and
`mixed_precision="bfloat16"` in Python.

## Why it hurts
`AttributeError: module 'torch' has no attribute 'bf16'`, after the data and the model have been
loaded; the same with torch 2.13 as with every earlier one. transformers 5.23 raises it for
`dtype="bf16"`, and for `torch_dtype="bf16"` ``ValueError: `dtype` provided as a `str` can only be
`'auto'`, or a string representation of a valid `torch.dtype` ``.

## Example
```python
parser.add_argument("--dtype", default="bf16", choices=["bf16", "fp32"])
args = parser.parse_args()
dtype = getattr(torch, args.dtype)
```

## Use instead
```python
parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float32"])
args = parser.parse_args()
dtype = getattr(torch, args.dtype)
```

## Fix safety
Safe where the literal is the argument itself: the call could only raise. Unsafe for the default of
a parameter and for what a call gives to it: other code may compare the parameter with the old word.
The default and the choices of a setting are only shown, because launch scripts and documentation
may use the old words.

## References
- Pitfall H01
- https://github.com/NielsRogge/Transformers-Tutorials/issues/380
- https://github.com/centerforaisafety/HarmBench/issues/39
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.fixers import dtype_names
from precision_lint.rule_api import (
    ALIASES,
    Applicability,
    Argument,
    Call,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Symbol,
    Text,
    imported_names,
    names_precision,
    qualified,
    regex,
    texts,
)

RULE = Rule(
    code="MP601",
    name="dtype-name-unknown",
    summary="a dtype name that torch does not have",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"torch", b"transformers"),
        (b"getattr(torch", b"from_pretrained(", b"from_config("),
        (b"getattr(torch", b"bf16", b"BF16", b"fp16", b"FP16", b"fp32", b"FP32", b"fp8", b"-mixed"),
    ),
    calls=frozenset({"getattr", "from_pretrained", "from_config"}),
    intraprocedural=frozenset({"getattr", "from_pretrained", "from_config"}),
    pitfalls=("H01",),
)

_MODEL = regex(r"transformers\.(?:.+\.)?\w*(?:Model\w*|For\w+)\.from_(?:pretrained|config)")
_KEYWORDS = ("dtype", "torch_dtype")


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, _, *_]):
            return qualified(owner, imported_names(file)) == "torch"
        case ast.Call(keywords=keywords):
            given = [each.value for each in keywords if each.arg in _KEYWORDS]
            return any(_may_be_text(each, file) for each in given)
    return False


def _may_be_text(node: ast.expr, file: PythonFile) -> bool:
    """True for an unknown name, a variable, and an attribute that is not one of torch."""
    match node:
        case ast.Constant(value=str(name)):
            return _is_unknown(name)
        case ast.Attribute():
            return not qualified(node, imported_names(file)).startswith("torch.")
    return isinstance(node, ast.Name)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    for argument in _dtypes(call):
        found = [text for text in texts(argument, call, file) if _is_unknown(text.value)]
        if found:
            yield _finding(found, argument, file)


def _dtypes(call: Call) -> Iterator[Argument]:
    """The arguments of a call that are looked up in torch."""
    if call.name == "getattr":
        match call.arguments:
            case [Argument(value=Symbol(name="torch")), name]:
                yield name
    elif _MODEL.fullmatch(call.function or ""):
        for keyword in _KEYWORDS:
            if keyword in call.keywords:
                yield call.keywords[keyword]


def _is_unknown(name: str) -> bool:
    return names_precision(name) and name not in ALIASES


def _finding(found: Sequence[Text], argument: Argument, file: PythonFile) -> Finding:
    names = " or ".join(f"`{text.value}`" for text in found)
    shown = " ".join(file.text[argument.span].split())
    is_literal = found[0].said_at is None
    missing = "dtypes of these names" if len(found) > 1 else "dtype of that name"
    message = f"`torch` has no dtype {names}" if is_literal else f"`{shown}` can be {names}"
    return file.finding(
        RULE,
        argument.span,
        message if is_literal else f"{message}: torch has no {missing}",
        confidence=Confidence.HIGH if is_literal else Confidence.MEDIUM,
        why=f"AttributeError: module 'torch' has no attribute '{found[0].value}'.",
        fix=_fix(found, file),
        related=[text.said_at for text in found if text.said_at is not None],
    )


def _fix(found: Sequence[Text], file: PythonFile) -> Fix | None:
    if not all(text.literals for text in found):
        return None
    edits = [dtype_names.as_name(file, literal) for text in found for literal in text.literals]
    known = tuple(edit for edit in edits if edit is not None)
    if len(known) < len(edits):
        return None
    level = Applicability.SAFE
    if any(text.said_at is not None for text in found):
        is_setting = any(text.is_setting for text in found)
        level = Applicability.DISPLAY if is_setting else Applicability.UNSAFE
    return Fix(level, "Use the name that torch has", known)
