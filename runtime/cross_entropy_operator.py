"""The row loss as PyTorch operators, ``torch.ops.precision_lint.cross_entropy_*``.

One operator for every device: the implementation is chosen from the logits. Registered with shape
inference and autograd, it is one opaque node to ``torch.compile`` and to CUDA graphs.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import torch

from precision_lint.runtime import cross_entropy_torch
from precision_lint.runtime.cross_entropy_parallel import ClassShard, gathered
from precision_lint.runtime.cross_entropy_rows import (
    RowImplementation,
    RowLosses,
    RowOptions,
    Statistic,
    accumulation_dtype,
)
from precision_lint.runtime.operators import refuse_transforms, register

_KERNEL_DTYPES = (torch.bfloat16, torch.float16, torch.float32)
_OPTIONS = "int ignore_index, float logit_scale, float softcap, float label_smoothing"
_FLAGS = "bool argmax, bool inplace, bool check_labels"
_SAVED = "Tensor target, Tensor? weight, Tensor statistics"
_SHARD = "SymInt first_class, SymInt classes, int group_size, str group_name"
# Of one process when left out. Compiled graphs on disk outlive a release and hold the gradient's
# arguments, under a key that knows the loss's operator only: new ones need a default.
_RANGE = "SymInt first_class=0, SymInt? classes=None"
_GRADS = "Tensor? grad_losses, Tensor? grad_lse"
_INSTEAD = "torch.nn.functional.cross_entropy(logits.float(), target)"
_operators = torch.ops.precision_lint


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


_HAS_TRITON = _is_installed("triton")


def implementation(logits: torch.Tensor) -> RowImplementation:
    """Triton for CUDA and ROCm tensors of the dtypes it has, torch for all others."""
    if _HAS_TRITON and logits.is_cuda and logits.dtype in _KERNEL_DTYPES:
        from precision_lint.runtime import cross_entropy_triton

        return cross_entropy_triton
    return cross_entropy_torch


def row_losses(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    options: RowOptions,
    *,
    argmax: bool,
    inplace: bool,
    check_labels: bool,
    shard: ClassShard | None = None,
) -> RowLosses:
    """Losses and lse differentiable once in ``logits``; shapes as in ``RowImplementation``.

    Args:
        inplace: the gradient may be written to the logits when it is computed. Autograd notices
            any later use of the logits' values, a second backward pass included, and raises.
        check_labels: synchronize with the device and raise IndexError for a label out of range.
        shard: where the logits and weights are in a vocabulary that a process group shares; the
            results are then those of the whole vocabulary.
    """
    refuse_transforms("cross_entropy", _INSTEAD, logits)
    arguments = (
        logits,
        target,
        weight,
        options.ignore_index,
        options.logit_scale,
        options.softcap,
        options.label_smoothing,
        argmax,
        inplace,
        check_labels,
    )
    if shard is None:
        return RowLosses(*_operators.cross_entropy_rows(*arguments))
    return RowLosses(
        *_operators.cross_entropy_shard_rows(
            *arguments, shard.first_class, shard.classes, shard.group_size, shard.group_name
        )
    )


def _rows(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    ignore_index: int,
    logit_scale: float,
    softcap: float,
    label_smoothing: float,
    argmax: bool,
    inplace: bool,
    check_labels: bool,
) -> RowLosses:
    if check_labels:
        cross_entropy_torch.check_labels(target, logits.shape[1], ignore_index)
    options = RowOptions(ignore_index, logit_scale, softcap, label_smoothing)
    return implementation(logits).row_losses(logits, target, weight, options, argmax=argmax)


def _shard_rows(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    ignore_index: int,
    logit_scale: float,
    softcap: float,
    label_smoothing: float,
    argmax: bool,
    inplace: bool,
    check_labels: bool,
    first_class: int,
    classes: int,
    group_size: int,
    group_name: str,
) -> RowLosses:
    # Before the collective: all processes have the same labels, and none may hang.
    if check_labels or logits.device.type == "cpu":
        cross_entropy_torch.check_labels(target, classes, ignore_index)
    options = RowOptions(ignore_index, logit_scale, softcap, label_smoothing)
    rows = implementation(logits)
    part = rows.row_partials(
        logits, target, weight, options, argmax=argmax, first_class=first_class, one_part=True
    )
    parts = gathered(part, group_size, group_name)
    return rows.combine(parts, target, options, argmax=argmax, classes=classes)


def _rows_fake(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    ignore_index: int,
    logit_scale: float,
    softcap: float,
    label_smoothing: float,
    argmax: bool,
    *_rest: Any,
) -> RowLosses:
    rows = logits.shape[0]
    dtype = accumulation_dtype(logits.dtype)
    return RowLosses(
        losses=logits.new_empty(rows, dtype=dtype),
        lse=logits.new_empty(rows, dtype=dtype),
        argmax=logits.new_empty(rows if argmax else 0, dtype=torch.int64),
        statistics=logits.new_empty((len(Statistic), rows), dtype=dtype),
    )


def _write_gradient(
    out: torch.Tensor,
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    statistics: torch.Tensor,
    ignore_index: int,
    logit_scale: float,
    softcap: float,
    label_smoothing: float,
    first_class: int = 0,
    classes: int | None = None,
) -> None:
    implementation(logits).row_gradient(
        out,
        grad_losses,
        grad_lse,
        logits,
        target,
        weight,
        statistics,
        RowOptions(ignore_index, logit_scale, softcap, label_smoothing),
        first_class=first_class,
        classes=logits.shape[1] if classes is None else classes,
    )


def _gradient(
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    logits: torch.Tensor,
    *saved: Any,
) -> torch.Tensor:
    grad_logits = torch.empty_like(logits, memory_format=torch.contiguous_format)
    _write_gradient(grad_logits, grad_losses, grad_lse, logits, *saved)
    return grad_logits


def _gradient_fake(
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    logits: torch.Tensor,
    *_saved: Any,
) -> torch.Tensor:
    return torch.empty_like(logits, memory_format=torch.contiguous_format)


def _gradient_in_place(
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    logits: torch.Tensor,
    *saved: Any,
) -> None:
    _write_gradient(logits, grad_losses, grad_lse, logits, *saved)
    # Autograd does not see what a kernel writes.
    torch.autograd.graph.increment_version(logits)


def _gradient_in_place_fake(*_arguments: Any) -> None:
    return None


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    logits, target, weight, *rest = inputs
    options, (_argmax, inplace, _check_labels), shard = rest[:4], rest[4:7], rest[7:]
    *_, argmax, statistics = output
    ctx.mark_non_differentiable(argmax, statistics)
    # An output that is not used has no gradient, instead of a tensor of zeros.
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(logits, target, weight, statistics)
    ctx.options = (*options, *shard[:2])
    ctx.nones = (None,) * (len(inputs) - 1)
    ctx.inplace = inplace and _has_storage_of_its_own(logits)


def _backward(
    ctx: Any,
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    *_no_gradient: None,
) -> tuple[torch.Tensor | None, ...]:
    if grad_losses is None and grad_lse is None:
        return None, *ctx.nones
    logits, target, weight, statistics = ctx.saved_tensors
    # With create_graph the gradient must stay connected to the logits, to reject the second one.
    if ctx.inplace and not torch.is_grad_enabled():
        grad_logits = logits.detach()
        _operators.cross_entropy_rows_gradient_(
            grad_losses, grad_lse, grad_logits, target, weight, statistics, *ctx.options
        )
        return grad_logits, *ctx.nones
    return _operators.cross_entropy_rows_gradient(
        grad_losses, grad_lse, logits, target, weight, statistics, *ctx.options
    ), *ctx.nones


def _has_storage_of_its_own(logits: torch.Tensor) -> bool:
    """Whether each element can be overwritten: no two share memory, as after ``expand``."""
    rows, classes = logits.shape
    return logits.stride(1) == 1 and (rows == 1 or logits.stride(0) >= classes)


def _refuse_second_derivative(ctx: Any, *_: Any) -> None:
    raise RuntimeError(
        "precision_lint's cross_entropy is differentiable once; for a second derivative use "
        + _INSTEAD
    )


def _refuse_vmap(*_: Any) -> None:
    raise RuntimeError(
        "precision_lint's cross_entropy does not run under torch.vmap; it takes batches itself: "
        "pass logits of shape (N, C) or (N, C, d1, ...)"
    )


_INPUTS = f"Tensor logits, Tensor target, Tensor? weight, {_OPTIONS}, {_FLAGS}"
_RESULTS = "(Tensor, Tensor, Tensor, Tensor)"

_ROWS = "precision_lint::cross_entropy_rows"
register(_ROWS, f"({_INPUTS}) -> {_RESULTS}", _rows, _rows_fake)
torch.library.register_autograd(_ROWS, _backward, setup_context=_save)

# One operator with its collective inside, known by the group's name as in torch's own functional
# collectives: to torch.compile it is the same opaque node as the loss of one process.
_SHARD_ROWS = "precision_lint::cross_entropy_shard_rows"
register(
    _SHARD_ROWS,
    f"({_INPUTS}, {_SHARD}) -> {_RESULTS}",
    _shard_rows,
    _rows_fake,
)
torch.library.register_autograd(_SHARD_ROWS, _backward, setup_context=_save)

_GRADIENT = "precision_lint::cross_entropy_rows_gradient"
register(
    _GRADIENT,
    f"({_GRADS}, Tensor logits, {_SAVED}, {_OPTIONS}, {_RANGE}) -> Tensor",
    _gradient,
    _gradient_fake,
)
torch.library.register_autograd(_GRADIENT, _refuse_second_derivative)
register(
    f"{_GRADIENT}_",
    f"({_GRADS}, Tensor(a!) logits, {_SAVED}, {_OPTIONS}, {_RANGE}) -> ()",
    _gradient_in_place,
    _gradient_in_place_fake,
)

if hasattr(torch.library, "register_vmap"):  # torch 2.5
    torch.library.register_vmap(_ROWS, _refuse_vmap)
    torch.library.register_vmap(_SHARD_ROWS, _refuse_vmap)
    torch.library.register_vmap(_GRADIENT, _refuse_vmap)
