"""4-bit weights that FSDP1 is to shard.

## What it does
Finds a model in `FullyShardedDataParallel(…)` that was loaded with `load_in_4bit=True`, also below
`get_peft_model` and `prepare_model_for_kbit_training`, where the config says no
`bnb_4bit_quant_storage`.

Not reported: modules that are left out (`ignored_modules`, `ignored_states`), a config that is
completed later or has `**options`, and FSDP2 (`fully_shard`).

## Why it hurts
Without `bnb_4bit_quant_storage` the packed weights are stored as `torch.uint8`, and FSDP1 flattens
all parameters of a unit into one floating-point tensor: `ValueError: Cannot flatten integer dtype
tensors`, or `ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 and
torch.uint8`, whichever parameter comes first (torch 2.13). It happens on every rank after the load.

## Example
```python
quantization = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
model = AutoModelForCausalLM.from_pretrained(
    name, quantization_config=quantization, dtype=torch.bfloat16
)
model = FullyShardedDataParallel(model)
```

## Use instead
```python
quantization = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_compute_dtype=torch.bfloat16,
    bnb_4bit_quant_storage=torch.bfloat16,
)
model = AutoModelForCausalLM.from_pretrained(
    name, quantization_config=quantization, dtype=torch.bfloat16
)
model = FullyShardedDataParallel(model)
```

## Fix safety
Unsafe: the storage gets the dtype of the other weights, which FSDP1 needs, and adapters that PEFT
keeps in float32 still differ (`autocast_adapter_dtype=False`).

## References
- Pitfall I05
- https://github.com/huggingface/trl/issues/1723
- https://huggingface.co/docs/peft/accelerate/fsdp
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Finding,
    Fix,
    PythonFile,
    QuantizedLoad,
    Rule,
    Severity,
    dotted,
    qualified,
    quantized_load,
    regex,
    syntax_tree,
)

RULE = Rule(
    code="MP613",
    name="sharded-four-bit-weights",
    summary="4-bit weights stored as integers that FSDP1 is to flatten",
    severity=Severity.ERROR,
    since="0.1.0",
    fix="sometimes",
    triggers=((b"load_in_4bit=True",), (b"FullyShardedDataParallel",)),
    pitfalls=("I05",),
)

_FSDP = regex(r"torch\.distributed\.fsdp\.(?:\w+\.)*FullyShardedDataParallel")
_LEAVING_OUT = frozenset({"ignored_modules", "ignored_states", None})
_STORAGE = "bnb_4bit_quant_storage"
_THROUGH = frozenset({"get_peft_model", "prepare_model_for_kbit_training"})


def check_source(file: PythonFile) -> Iterator[Finding]:
    if _STORAGE in file.text.text:
        return
    names = syntax_tree(file).names
    for node in file.nodes:
        if not isinstance(node, ast.Call) or not _FSDP.fullmatch(qualified(node.func, names)):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        model = node.args[0] if node.args else given.get("module")
        if model is None or not _LEAVING_OUT.isdisjoint(given):
            continue
        load = quantized_load(model, file, _THROUGH)
        if load is None or load.bits != 4 or any(each.arg is None for each in load.config.keywords):
            continue
        yield file.finding(
            RULE,
            file.span_of(node),
            "FSDP1 cannot flatten 4-bit weights that are stored as uint8",
            confidence=Confidence.HIGH,
            why="ValueError: Cannot flatten integer dtype tensors. The default of "
            f"`{_STORAGE}` is torch.uint8.",
            fix=_fix(load, file),
            related=[file.related(file.span_of(load.config), f"`{_STORAGE}` is not set here")],
        )


def _fix(load: QuantizedLoad, file: PythonFile) -> Fix | None:
    dtype = load.option("dtype") or load.option("torch_dtype")
    if load.config is load.node or dtype is None or dotted(dtype) is None:
        return None
    shown = file.text[file.span_of(dtype)]
    edit = calls.add_keyword(file, file.span_of(load.config), _STORAGE, shown)
    return None if edit is None else Fix(Applicability.UNSAFE, f"Store in `{shown}`", (edit,))
