"""What unscales gradients in a file: a GradScaler of torch, Accelerate, or the Trainer's scaler."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from precision_lint.facts.amp.scaling.scalers import enabled_position
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import Constant
from precision_lint.facts.origin import PathCondition, Setting
from precision_lint.facts.settings.vocabulary import names_float16
from precision_lint.model.frozen import frozen
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.syntax import callee_name, qualified

UNSCALING = frozenset({"GradScaler", "Accelerator"})
"""The calls that make what unscales."""

_OTHER_PRECISIONS = frozenset({"no", "bf16", "fp8"})
"""The precisions that Accelerate makes no scaler for."""

_OWN_SCALING = frozenset({"deepspeed", "fsdp"})
"""Arguments of a trainer that select a backend which accepts float16 weights."""


@frozen
class Unscaler:
    """What unscales gradients; `conditions` hold where it does."""

    conditions: tuple[PathCondition, ...]


def unscaler(calls: Iterable[Call], file: PythonFile) -> Unscaler | None:
    """What unscales the gradients of a training loop; None if nothing does.

    A ShardedGradScaler does not count: it unscales float16 gradients, which FSDP produces. Nor does
    an Accelerator in a program that starts DeepSpeed: it leaves the scaling to DeepSpeed, whatever
    the dtype of the weights (accelerate 0.27.2 and 1.15.0, `Accelerator.__init__`). Nor does
    anything in a program with an unscaling of its own, which takes float16 gradients.
    """
    if "_unscale_grads_" in file.text.text:
        return None
    calls = list(calls)
    for call in calls:
        if _is_scaler(call):
            enabled = call.argument(enabled_position(call.function or ""), "enabled")
            if enabled is None or enabled.value != Constant(False):
                return Unscaler((*call.guards, *_switch(enabled)))
    if any(call.name == "backward" for call in calls) and any(map(_is_accelerator, calls)):
        return None if _starts_deepspeed(file) else Unscaler(())
    return None


def _switch(enabled: Argument | None) -> tuple[PathCondition, ...]:
    """`enabled=args.amp`: it holds where the scaler works."""
    return () if enabled is None else (PathCondition(enabled.span, True),)


def _is_scaler(call: Call) -> bool:
    function = call.function or ""
    return function.startswith("torch.") and function.endswith(".GradScaler")


def _is_accelerator(call: Call) -> bool:
    """True for an `Accelerator` that makes a scaler in some runs."""
    if call.name != "Accelerator":
        return False
    match call.value(2, "mixed_precision"):
        case Constant(value=precision):
            return precision not in _OTHER_PRECISIONS
        case Setting(choices=choices):
            return any(names_float16(choice.value) for choice in choices)
    return True


def _starts_deepspeed(file: PythonFile) -> bool:
    """True if a file itself starts DeepSpeed, in each of its runs."""
    names = imported_names(file)
    return any(
        qualified(node.func, names) in {"deepspeed.init_distributed", "deepspeed.initialize"}
        for node in file.nodes_of(ast.Call)
    )


def trains_in_fp16(file: PythonFile) -> bool:
    """True if the arguments of a Hugging Face trainer in a file say `fp16=True`."""
    return any(
        callee_name(node).endswith(("Arguments", "Config"))
        and not any(keyword.arg in _OWN_SCALING for keyword in node.keywords)
        and any(_turns_on(keyword) for keyword in node.keywords)
        for node in file.nodes_of(ast.Call)
    )


def _turns_on(keyword: ast.keyword) -> bool:
    match keyword:
        case ast.keyword(arg="fp16", value=ast.Constant(value=True)):
            return True
    return False
