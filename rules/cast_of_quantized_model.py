"""A model with weights in 4 or 8 bits that is cast to another dtype.

## What it does
Finds `.half()`, `.float()` and `.to(dtype)` of a model that `from_pretrained` of transformers loads
with `load_in_4bit=True` or `load_in_8bit=True`, where the same function, or the module, shows both.

Not reported: bits that a variable decides, a name that can hold another model, casts of what PEFT
makes of the model, `.to(device)`, `.bfloat16()`, and calls in `try:`.

## Why it hurts
The weights are packed integers, and transformers 4.30 and later refuse to cast them: ``ValueError:
`.half()` is not supported for quantized model. Please use the model as it is, since the model has
already been casted to the correct `dtype`.``, ``ValueError: You cannot cast a bitsandbytes model in
a new `dtype`.`` The load comes first, and takes minutes for a large model.

## Example
```python
model = AutoModelForCausalLM.from_pretrained(
    name, quantization_config=BitsAndBytesConfig(load_in_4bit=True)
)
model = model.half()
```

## Use instead
```python
model = AutoModelForCausalLM.from_pretrained(
    name, dtype=torch.float16, quantization_config=BitsAndBytesConfig(load_in_4bit=True)
)
```

## Fix safety
There is no fix: whether `dtype=`, `bnb_4bit_compute_dtype=` or nothing takes the place of the cast
is a choice.

## References
- Pitfall I09
- https://github.com/huggingface/transformers/issues/20409
- https://github.com/huggingface/diffusers/issues/9690
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.rule_api import (
    DTYPES,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    qualified,
    quantized_load,
    syntax_tree,
)

RULE = Rule(
    code="MP612",
    name="cast-of-quantized-model",
    summary="a cast of a model with weights in 4 or 8 bits",
    severity=Severity.ERROR,
    since="0.1.0",
    triggers=(
        (b"load_in_4bit=True", b"load_in_8bit=True"),
        (b"from_pretrained(",),
        (b".half()", b".float()", b".to("),
    ),
    pitfalls=("I09",),
)

_SINCE = (4, 30)
_CASTS = ("half", "float")


def check_source(file: PythonFile) -> Iterator[Finding]:
    version = file.project.version_of("transformers")
    if version is not None and version < _SINCE:
        return
    syntax = syntax_tree(file)
    for method in (*_CASTS, "to"):
        for call in syntax.calls(method):
            if not isinstance(call.func, ast.Attribute) or not _is_cast(call, method, file):
                continue
            load = quantized_load(call.func.value, file)
            if load is None or syntax.may_fail_on_purpose(call):
                continue
            yield file.finding(
                RULE,
                file.span_of(call),
                f"a model with weights in {load.bits} bits cannot be cast",
                confidence=Confidence.HIGH,
                why="transformers raises ValueError. Pass `dtype=` to `from_pretrained` instead.",
                related=[file.related(file.span_of(load.config), f"{load.bits} bits are set here")],
            )


def _is_cast(call: ast.Call, method: str, file: PythonFile) -> bool:
    if method != "to":
        return not call.args and not call.keywords
    names = syntax_tree(file).names
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "dtype")]
    dtypes = {f"torch.{name}" for name in (*DTYPES, "half", "float", "double")}
    return any(qualified(each, names) in dtypes for each in given)
