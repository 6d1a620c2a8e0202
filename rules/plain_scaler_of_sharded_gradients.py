"""A plain GradScaler over parameters that FSDP shards.

## What it does
Finds a `GradScaler` in a file that wraps a model in `FullyShardedDataParallel`. Not reported: a
file that also knows `ShardedGradScaler`, a scaler whose conditions or `enabled=` depend on FSDP, a
scaler in another class than the call that shards, unless one extends the other, a scaler that is
off, also by `enabled=(dtype == "float16")` of a dtype of torch, which never equals a text, a scaler
that is never stepped, `NO_SHARD` but for runs of one process (`FULL_SHARD if world_size > 1 else
NO_SHARD`), and FSDP2 (`fully_shard`), whose gradients are distributed tensors.

## Why it hurts
There is no error. Every rank holds a part of each gradient and looks for infinities in that part
alone. A rank that finds one skips its step and lowers its loss scale; the others step. From then on
the parts of the parameters belong to different steps, and the ranks scale the loss differently.
`ShardedGradScaler` sums what all ranks have found.

## Example
```python
model = FullyShardedDataParallel(model)
scaler = torch.amp.GradScaler("cuda")
```

## Use instead
```python
model = FullyShardedDataParallel(model)
scaler = ShardedGradScaler()  # from torch.distributed.fsdp.sharded_grad_scaler
```

## Fix safety
There is no fix: the scaler may also serve runs without FSDP.

## References
- Pitfall B09
- https://github.com/pytorch/pytorch/issues/64632
- https://github.com/pytorch/pytorch/pull/116054
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.rule_api import (
    Confidence,
    Finding,
    PythonFile,
    Rule,
    Severity,
    SyntaxTree,
    conditions_around,
    enclosing_class,
    is_never_true,
    last_name,
    makes_grad_scaler,
    qualified,
    regex,
    syntax_tree,
)

RULE = Rule(
    code="MP220",
    name="plain-scaler-of-sharded-gradients",
    summary="a GradScaler instead of a ShardedGradScaler with FSDP",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16",),
    triggers=((b"GradScaler(",), (b"FullyShardedDataParallel",), (b".step(",)),
    pitfalls=("B09",),
)

_WRAPPER = regex(r"torch\.distributed\.fsdp\.(?:\w+\.)*FullyShardedDataParallel")
_OF_PROCESSES = regex(r"world_?size|n(?:um)?_?(?:gpus?|processes|nodes)", re.IGNORECASE)
_ABOUT_SHARDING = regex(r"fsdp|shard|strategy|distributed", re.IGNORECASE)


def check_source(file: PythonFile) -> Iterator[Finding]:
    syntax = syntax_tree(file)
    if "ShardedGradScaler" in file.text.text or _may_shard_nothing(file, syntax):
        return
    if not any(len(call.args) == 1 for call in syntax.calls("step")):
        return
    shards = _shards(syntax)
    for node in file.nodes_of(ast.Call):
        wrapped = next((each for each in shards if _may_meet(node, each, syntax)), None)
        if wrapped is not None and _is_on(node, file, syntax):
            yield file.finding(
                RULE,
                file.span_of(node),
                "a plain GradScaler checks only the gradients of its own rank for infinities",
                confidence=Confidence.MEDIUM,
                why="Ranks with infinities skip the step, the others do not: use "
                "`ShardedGradScaler`.",
                related=[file.related(file.span_of(wrapped), "the parameters are sharded here")],
            )


def _may_shard_nothing(file: PythonFile, syntax: SyntaxTree) -> bool:
    """True if the file names NO_SHARD, and not only for runs of one process."""
    if "NO_SHARD" not in file.text.text:
        return False
    named = [each for each in file.nodes_of(ast.Attribute) if each.attr == "NO_SHARD"]
    return not named or not all(_is_for_one_process(each, syntax) for each in named)


def _is_for_one_process(node: ast.Attribute, syntax: SyntaxTree) -> bool:
    """True in `FULL_SHARD if world_size > 1 else NO_SHARD`: one process agrees with itself."""
    match syntax.parent(node):
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            others = last_name(otherwise if body is node else body)
            return "_SHARD" in others and _OF_PROCESSES.search(ast.unparse(test)) is not None
    return False


def _shards(syntax: SyntaxTree) -> list[ast.Call]:
    """The calls that shard a model, in source order."""
    calls = (node for node in syntax.nodes if isinstance(node, ast.Call))
    found = (node for node in calls if _WRAPPER.fullmatch(qualified(node.func, syntax.names)))
    return sorted(found, key=lambda node: node.lineno)


def _may_meet(made: ast.Call, wrapped: ast.Call, syntax: SyntaxTree) -> bool:
    """False for two classes that have nothing to do with each other: each has its own trainer."""
    first, second = enclosing_class(made, syntax), enclosing_class(wrapped, syntax)
    if first is None or second is None or first is second:
        return True
    return any(
        last_name(base) == other.name
        for one, other in ((first, second), (second, first))
        for base in one.bases
    )


def _is_on(node: ast.Call, file: PythonFile, syntax: SyntaxTree) -> bool:
    """True for a scaler of torch that sharding does not turn off."""
    if not makes_grad_scaler(qualified(node.func, syntax.names)):
        return False
    tests = [test for test, _ in conditions_around(node, file)]
    for keyword in node.keywords:
        if keyword.arg is None:
            return False
        if keyword.arg == "enabled":
            tests.append(keyword.value)
            is_off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
            if is_off or is_never_true(keyword.value, file):
                return False
    return not any(_ABOUT_SHARDING.search(ast.unparse(test)) for test in tests)
