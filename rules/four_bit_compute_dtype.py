"""4-bit weights whose products are computed in float32.

## What it does
Finds `BitsAndBytesConfig(load_in_4bit=True)` without `bnb_4bit_compute_dtype`, where the same
function loads a model with it and says `dtype=torch.bfloat16` or float16.

Not reported: a config that is completed later (`config.bnb_4bit_compute_dtype = …`), one with
`**options`, and a model whose dtype is not said or is float32.

## Why it hurts
The default is float32 (transformers 5.23): every 4-bit layer casts its input up, multiplies in
float32, and casts the result down. There is no error; bitsandbytes says, if at all, `Input type
into Linear4bit is torch.float16, but bnb_4bit_compute_dtype=torch.float32 (default). This will lead
to slow inference or training speed.`

## Example
```python
quantization = BitsAndBytesConfig(load_in_4bit=True)
model = AutoModelForCausalLM.from_pretrained(
    name, quantization_config=quantization, dtype=torch.bfloat16
)
```

## Use instead
```python
quantization = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
model = AutoModelForCausalLM.from_pretrained(
    name, quantization_config=quantization, dtype=torch.bfloat16
)
```

## Fix safety
Unsafe: products are computed with fewer bits than before. The dtype is that of the model that the
config is given to.

## References
- Pitfall I04
- https://github.com/bitsandbytes-foundation/bitsandbytes/issues/1177
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    BFLOAT16,
    FLOAT16,
    Applicability,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    last_name,
    precision_of,
    qualified,
    syntax_tree,
)

RULE = Rule(
    code="MP606",
    name="four-bit-compute-dtype",
    summary="4-bit weights whose products are computed in float32",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16", "bf16"),
    fix="sometimes",
    triggers=(
        (b"BitsAndBytesConfig(",),
        (b"load_in_4bit",),
        (b"float16", b"torch.half"),
    ),
    pitfalls=("I04",),
)

_CONFIGS = frozenset({"transformers.BitsAndBytesConfig", "diffusers.BitsAndBytesConfig"})
_COMPUTE = "bnb_4bit_compute_dtype"


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    if any(
        isinstance(node, ast.Attribute)
        and node.attr == _COMPUTE
        and isinstance(node.ctx, ast.Store)
        for node in file.nodes
    ):
        return  # it is set later
    for config in syntax.calls("BitsAndBytesConfig"):
        given = {keyword.arg: keyword.value for keyword in config.keywords}
        is_on = isinstance(on := given.get("load_in_4bit"), ast.Constant) and on.value is True
        is_complete = None in given or _COMPUTE in given or bool(config.args)
        if not is_on or is_complete or qualified(config.func, syntax.names) not in _CONFIGS:
            continue
        dtype = _model_dtype(config, file)
        if dtype is None:
            continue
        name = last_name(dtype)
        precision = precision_of(name)
        shown = file.text[file.span_of(dtype)]
        edit = calls.add_keyword(file, file.span_of(config), _COMPUTE, shown)
        message = f"Compute in `{shown}`"
        yield file.finding(
            RULE,
            file.span_of(config),
            f"4-bit layers compute in float32, but the rest of the model in {name}",
            confidence=Confidence.MEDIUM,
            why=f"`{_COMPUTE}` is torch.float32 by default: each layer casts its input to float32 "
            "and its output back.",
            fix=None if edit is None else Fix(Applicability.UNSAFE, message, (edit,)),
            related=[file.related(file.span_of(dtype), f"the model is loaded in {name}")],
            precisions=(precision,) if precision is not None else RULE.precisions,
        )


def _model_dtype(config: ast.Call, file: PythonFile) -> ast.expr | None:
    """The half dtype that the model with this config is loaded in."""
    syntax = syntax_tree(file)
    parent = syntax.parent(config)
    names = set()
    if isinstance(parent, ast.Assign):
        names = {ast.unparse(target) for target in parent.targets}
    for call in (*syntax.calls("from_pretrained"), *syntax.calls("from_single_file")):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        quantization = given.get("quantization_config")
        if quantization is None:
            continue
        is_it = quantization is config or ast.unparse(quantization) in names
        dtype = given.get("dtype", given.get("torch_dtype"))
        is_here = syntax.function(config) in {syntax.function(call), None}
        if is_it and is_here and dtype is not None and _is_half(dtype, file):
            return dtype
    return None


def _is_half(node: ast.expr, file: PythonFile) -> bool:
    name = qualified(node, syntax_tree(file).names)
    return name in {f"torch.{dtype}" for dtype in (BFLOAT16, FLOAT16, "half")}
