"""A collective of torch.distributed for tensors of two dtypes, or one that gloo does not have.

## What it does
Finds calls of `all_gather`, `gather`, `scatter`, `reduce_scatter`, `all_to_all` and
`all_to_all_single` of `torch.distributed` whose two sides certainly have different dtypes, such as
a float16 tensor and a list of float32 buffers, and `all_reduce`, `reduce` and `broadcast` of a
float8 tensor in a file that opens its process group with gloo.

Not reported: tensors of which one dtype is not known, and calls in `try:`.

## Why it hurts
`ValueError: Invalid usage of tensors with different dtypesFound torch.float32 and  torch.float16`
(spelled so in torch 2.13), and for float8 with gloo `RuntimeError: Invalid scalar type`. It happens
on every rank, after the job got its machines.

## Example
```python
logits = model(batch).half()
gathered = [torch.empty(4) for _ in range(dist.get_world_size())]
dist.all_gather(gathered, logits)
```

## Use instead
```python
logits = model(batch).half()
gathered = [torch.empty(4, dtype=logits.dtype) for _ in range(dist.get_world_size())]
dist.all_gather(gathered, logits)
```

## Fix safety
There is no fix: which side gets the dtype of the other one is a choice.

## References
- Pitfalls N01, N03
- https://github.com/pytorch/pytorch/issues/150433
- https://github.com/Lightning-AI/torchmetrics/issues/1809
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from precision_lint.rule_api import (
    Argument,
    Call,
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Sequence,
    Severity,
    Tensor,
    may_fail_on_purpose,
    qualified,
    syntax_tree,
)

_SIDES: Mapping[str, tuple[str, str]] = {
    "all_gather": ("tensor_list", "tensor"),
    "gather": ("tensor", "gather_list"),
    "scatter": ("tensor", "scatter_list"),
    "reduce_scatter": ("output", "input_list"),
    "all_to_all": ("output_tensor_list", "input_tensor_list"),
    "all_to_all_single": ("output", "input"),
}
"""The two arguments that need one dtype, by the name of the collective."""

_OF_ONE = frozenset({"all_reduce", "reduce", "broadcast"})

RULE = Rule(
    code="MP409",
    name="collective-dtypes",
    summary="a collective for tensors of two dtypes, or of one that gloo does not have",
    severity=Severity.ERROR,
    since="0.1.0",
    triggers=(
        (b"torch.distributed",),
        (b"gather(", b"scatter(", b"all_to_all", b"float8"),
        (b"half(", b"float16", b"float8", b"float64", b"double("),
    ),
    calls=_OF_ONE | frozenset(_SIDES),
    pitfalls=("N01", "N03"),
)

_DISTRIBUTED = "torch.distributed."


def asks_about(node: ast.expr, file: PythonFile) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = qualified(node.func, syntax_tree(file).names)
    is_of_one = name.rpartition(".")[2] in _OF_ONE
    return name.startswith(_DISTRIBUTED) and (not is_of_one or _is_gloo(file))


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    if not (call.function or "").startswith(_DISTRIBUTED) or may_fail_on_purpose(call, file):
        return
    found = _differing(call) if call.name in _SIDES else _refused(call)
    if found is None:
        return
    message, why, tensors = found
    yield file.finding(
        RULE,
        call.span,
        message,
        confidence=Confidence.HIGH,
        why=why,
        related=[one.origin.related for one in tensors if one.origin is not None],
    )


def _differing(call: Call) -> tuple[str, str, tuple[Tensor, ...]] | None:
    sides = enumerate(_SIDES[call.name])
    one, other = (_decided(call.argument(place, name)) for place, name in sides)
    if one is None or other is None or one.dtypes == other.dtypes:
        return None
    (first,), (second,) = one.dtypes, other.dtypes
    return (
        f"`{call.name}` needs tensors of one dtype, but gets {first} and {second}",
        "ValueError: Invalid usage of tensors with different dtypes.",
        (one, other),
    )


def _refused(call: Call) -> tuple[str, str, tuple[Tensor, ...]] | None:
    given = _decided(call.argument(0, "tensor"))
    if given is None or not any(dtype.startswith("float8") for dtype in given.dtypes):
        return None
    dtype = next(iter(given.dtypes))
    message = f"`{call.name}` of gloo does not support {dtype}"
    return message, "RuntimeError: Invalid scalar type", (given,)


def _decided(argument: Argument | None) -> Tensor | None:
    """The tensor that is given, or one of a list, if it certainly has one dtype."""
    value = None if argument is None else argument.value
    if isinstance(value, Sequence):
        value = value.item
    if not isinstance(value, Tensor) or value.is_open or value.clauses:
        return None
    return value if len(value.dtypes) == 1 else None


def _is_gloo(file: PythonFile) -> bool:
    """True if the file opens its process groups with gloo, and with nothing else."""
    opened = syntax_tree(file).calls("init_process_group")
    named = [
        value.value
        for call in opened
        for value in (
            *call.args[:1],
            *(each.value for each in call.keywords if each.arg == "backend"),
        )
        if isinstance(value, ast.Constant)
    ]
    return bool(opened) and named == ["gloo"] * len(opened)
