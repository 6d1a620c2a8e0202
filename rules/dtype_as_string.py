"""The name of a dtype where torch takes a `torch.dtype` only.

## What it does
Finds texts such as `"float16"` and `"bf16"` that are passed as a dtype to torch itself: in
`.to("float16")` of a tensor or a module, and in `dtype=` of functions that make tensors, of layers,
of `softmax`, and in `torch.finfo(…)` and `torch.set_default_dtype(…)`. The text may be a literal,
the default of a parameter, or a default or a choice that an argument parser or a class of settings
declares.

Not reported: calls in `try:`, a text that a condition or a table turns into a dtype before, and
`dtype="float16"` of other libraries, many of which take texts. Where nothing shows that the object
of `.to("float16")` is a tensor or a module of torch, confidence is low. The dtype of autocast is
covered by `autocast-unsupported-dtype`.

## Why it hurts
The text is read as a device, or refused, with torch 2.13 as with every earlier one: `RuntimeError:
Invalid device string: 'float16'`, `TypeError: zeros(): argument 'dtype' must be torch.dtype, not
str`, `TypeError: finfo(): argument 'type' (position 1) must be torch.dtype, not str`.

## Example
```python
model = model.to("bfloat16")
noise = torch.randn(4, 8, dtype="float16")
```

## Use instead
```python
model = model.to(torch.bfloat16)
noise = torch.randn(4, 8, dtype=torch.float16)
```

## Fix safety
Safe for a literal: the call could only raise. There is no fix for settings: how their words become
dtypes is for the program to say, by a table or `getattr(torch, name)`.

## References
- Pitfall H02
- https://github.com/hiyouga/LlamaFactory/issues/4698
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import dtype_names
from precision_lint.rule_api import (
    Applicability,
    Argument,
    Call,
    Confidence,
    Finding,
    Fix,
    Instance,
    Model,
    PythonFile,
    Rule,
    Severity,
    Tensor,
    Text,
    Value,
    syntax_tree,
    texts,
)

_MAKING = frozenset(
    {
        "zeros", "ones", "empty", "full", "eye", "arange", "linspace", "tensor", "as_tensor",
        "rand", "randn", "randint", "zeros_like", "ones_like", "empty_like", "full_like",
        "rand_like", "randn_like",
    }
)  # fmt: skip
_FUNCTIONAL = frozenset({"softmax", "log_softmax"})
_LAYERS = frozenset(
    {"Linear", "Embedding", "LayerNorm", "RMSNorm", "Conv1d", "Conv2d", "MultiheadAttention"}
)
_FIRST = {"finfo": "type", "set_default_dtype": "d"}
"""Functions whose first argument is a dtype, and its name."""
_CALLS = frozenset({*_MAKING, *_FUNCTIONAL, *_LAYERS, *_FIRST, "to"})

RULE = Rule(
    code="MP602",
    name="dtype-as-string",
    summary="the name of a dtype where torch takes a `torch.dtype` only",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"torch",),
        tuple(
            f"{quote}{name}{quote}".encode()
            for name in ("bf16", "bfloat16", "fp16", "float16", "half", "fp32", "float32")
            for quote in "'\""
        ),
        (b".to(", b"dtype"),
    ),
    calls=_CALLS,
    intraprocedural=_CALLS,
    pitfalls=("H02",),
)

_WITH_TEXTS = frozenset({"paddle", "mindspore", "oneflow", "keras", "tensorflow", "jax"})
"""Packages whose arrays or models take the name of a dtype."""


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    for argument in _dtypes(call):
        found = [text for text in texts(argument, call, file) if dtype_names.meant(text.value)]
        if found and not (call.name == "to" and _has_other_arrays(file)):
            yield _finding(found, argument, call, file)


def _dtypes(call: Call) -> Iterator[Argument]:
    """The arguments of a call that torch takes as a dtype."""
    module = (call.function or "").rpartition(".")[0]
    if call.name == "to":
        if call.receiver_span is not None and call.function is None:
            yield from call.arguments[:2]
            yield from filter(None, [call.keywords.get("dtype")])
        return
    if not module.startswith("torch"):
        return
    if call.name in _FIRST:
        yield from filter(None, [call.argument(0, _FIRST[call.name])])
    elif call.name not in _LAYERS or module.startswith("torch.nn"):
        yield from filter(None, [call.keywords.get("dtype")])


def _has_other_arrays(file: PythonFile) -> bool:
    names = syntax_tree(file).names.values()
    return any(name.partition(".")[0] in _WITH_TEXTS for name in names)


def _finding(found: list[Text], argument: Argument, call: Call, file: PythonFile) -> Finding:
    shown = " ".join(file.text[argument.span].split())
    is_literal = found[0].said_at is None
    names = " or ".join(f'"{text.value}"' for text in found)
    said = f"`{shown}` is a string" if is_literal else f"`{shown}` can be the string {names}"
    what = f".{call.name}" if call.name == "to" else call.function
    return file.finding(
        RULE,
        argument.span,
        f"`{what}` needs a `torch.dtype`, but {said}",
        confidence=_confidence(call, is_literal=is_literal),
        why=_why(call, found[0].value),
        fix=_fix(argument, file) if is_literal else None,
        related=[text.said_at for text in found if text.said_at is not None],
    )


def _confidence(call: Call, *, is_literal: bool) -> Confidence:
    if call.name == "to" and not _is_of_torch(call.receiver):
        return Confidence.LOW
    return Confidence.HIGH if is_literal else Confidence.MEDIUM


def _is_of_torch(value: Value) -> bool:
    """True for a tensor or a module of torch; not for what may as well be another object."""
    match value:
        case Tensor(scalar=None):
            return not value.may_be_other
        case Instance(parameters=parameters):
            return parameters is not None
    return isinstance(value, Tensor | Model)


def _why(call: Call, name: str) -> str:
    if call.name == "to":
        return f"The string is read as a device: RuntimeError: Invalid device string: '{name}'."
    if call.name in _LAYERS:
        return "TypeError: empty(): argument 'dtype' must be torch.dtype, not str."
    if call.name == "finfo":
        return "TypeError: finfo(): argument 'type' (position 1) must be torch.dtype, not str."
    if call.name == "set_default_dtype":
        return "TypeError: only floating-point types are supported as the default type."
    return f"TypeError: {call.name}(): argument 'dtype' must be torch.dtype, not str."


def _fix(argument: Argument, file: PythonFile) -> Fix | None:
    edit = dtype_names.as_dtype(file, argument.span)
    return None if edit is None else Fix(Applicability.SAFE, f"Use `{edit.content}`", (edit,))
