"""The row loss of a linear layer, ``torch.ops.precision_lint.linear_cross_entropy_*``.

The forward pass keeps only each row's loss and statistics, not the logits. The backward pass
recomputes the logits of a chunk, a fourth matrix product in addition to three, and turns them into
their gradient. In exchange, the gradient is computed on demand from the actual upstream gradients:
any reduction, a gradient of the lse, a second backward pass, checkpointing, and no work for frozen
parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from precision_lint.runtime import cross_entropy_operator as logits_operator
from precision_lint.runtime.cross_entropy_rows import (
    RowLosses,
    RowOptions,
    Statistic,
    accumulation_dtype,
)
from precision_lint.runtime.cross_entropy_torch import check_labels as check_range
from precision_lint.runtime.matmul import add_product_, linear, operand_dtype
from precision_lint.runtime.operators import refuse_transforms, register

# Rows of a chunk. On a GPU the weight's gradient is read and written, 8 bytes an element, for 2
# operations a row: about 1000 rows balance the two on an H100 (computed: 1e15 operations and
# 3.4e12 bytes a second). More rows where a vocabulary is small: 256 MiB of float32 logits. In
# multiples of a matrix unit's tile.
DEVICE_ROWS = 1024
DEVICE_ELEMENTS = 2**26
TILE_ROWS = 128
# On a CPU as many as make the upcast of the weight small beside the product: 16 MiB, or 128 rows.
CPU_ROWS = 128
CPU_ELEMENTS = 2**22

_OPTIONS = "int ignore_index, float logit_scale, float softcap, float label_smoothing"
_PARAMETERS = "Tensor hidden, Tensor weight, Tensor? bias, Tensor target, Tensor? class_weight"
_INSTEAD = "torch.nn.functional.linear and cross_entropy"
_operators = torch.ops.precision_lint


def row_losses(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    target: torch.Tensor,
    class_weight: torch.Tensor | None,
    options: RowOptions,
    *,
    dtype: torch.dtype,
    chunk_rows: int | None,
    argmax: bool,
    check_labels: bool,
) -> RowLosses:
    """Losses and lse of ``F.linear(hidden, weight, bias)``, differentiable once in all three.

    Args:
        hidden: (rows, width).
        weight: (classes, width).
        bias: (classes,) or None.
        target: (rows,) int64.
        class_weight: (classes,) in the accumulation dtype, contiguous, or None.
        dtype: the dtype of hidden, weight and bias in the products. Their gradients have their
            own dtypes, rounded once.
        chunk_rows: the rows whose logits are kept at a time; None to choose by size.
        check_labels: synchronize with the device and raise IndexError for a label out of range.
    """
    refuse_transforms("linear_cross_entropy", _INSTEAD, hidden, weight, bias)
    return RowLosses(
        *_operators.linear_cross_entropy_rows(
            hidden,
            weight,
            bias,
            target,
            class_weight,
            dtype,
            chunk_rows,
            options.ignore_index,
            options.logit_scale,
            options.softcap,
            options.label_smoothing,
            argmax,
            check_labels,
        )
    )


def _rows(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    target: torch.Tensor,
    class_weight: torch.Tensor | None,
    dtype: torch.dtype,
    chunk_rows: int | None,
    ignore_index: int,
    logit_scale: float,
    softcap: float,
    label_smoothing: float,
    argmax: bool,
    check_labels: bool,
) -> RowLosses:
    if check_labels or target.device.type == "cpu":
        check_range(target, weight.shape[0], ignore_index)
    options = RowOptions(ignore_index, logit_scale, softcap, label_smoothing)
    with _no_autocast(hidden.device):
        weight, bias = weight.to(dtype), None if bias is None else bias.to(dtype)

        def losses_of(chunk: slice) -> RowLosses:
            logits = linear(hidden[chunk].to(dtype), weight, bias)
            return logits_operator.implementation(logits).row_losses(
                logits, target[chunk], class_weight, options, argmax=argmax
            )

        chunks = [losses_of(chunk) for chunk in _chunks(hidden, weight, chunk_rows)]
    return RowLosses(*(torch.cat(parts, dim=-1) for parts in zip(*chunks, strict=True)))


def _rows_fake(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    target: torch.Tensor,
    class_weight: torch.Tensor | None,
    dtype: torch.dtype,
    *rest: Any,
) -> RowLosses:
    *_options, argmax, _check_labels = rest
    rows = hidden.shape[0]
    result = accumulation_dtype(dtype)
    return RowLosses(
        losses=hidden.new_empty(rows, dtype=result),
        lse=hidden.new_empty(rows, dtype=result),
        argmax=hidden.new_empty(rows if argmax else 0, dtype=torch.int64),
        statistics=hidden.new_empty((len(Statistic), rows), dtype=result),
    )


def _gradient(
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    target: torch.Tensor,
    class_weight: torch.Tensor | None,
    statistics: torch.Tensor,
    dtype: torch.dtype,
    chunk_rows: int | None,
    ignore_index: int,
    logit_scale: float,
    softcap: float,
    label_smoothing: float,
    wants_hidden: bool,
    wants_weight: bool,
    wants_bias: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    options = RowOptions(ignore_index, logit_scale, softcap, label_smoothing)
    classes, width = weight.shape
    # Summed over the chunks: in half precision each sum would be rounded to 3 digits again and
    # again, and soon not change any more.
    total = accumulation_dtype(dtype)
    grad_hidden = hidden.new_empty(hidden.shape if wants_hidden else 0)
    grad_weight = hidden.new_zeros((classes, width) if wants_weight else 0, dtype=total)
    grad_bias = hidden.new_zeros(classes if wants_bias else 0, dtype=total)
    factor = weight.to(dtype)
    offset = None if bias is None else bias.to(dtype)

    def logits_gradient(x: torch.Tensor, chunk: slice) -> torch.Tensor:
        logits = linear(x, factor, offset)
        operand = operand_dtype(dtype, logits.device)
        out = logits if logits.dtype == operand else torch.empty_like(logits, dtype=operand)
        logits_operator.implementation(logits).row_gradient(
            out,
            None if grad_losses is None else grad_losses[chunk],
            None if grad_lse is None else grad_lse[chunk],
            logits,
            target[chunk],
            class_weight,
            statistics[:, chunk].contiguous(),
            options,
            first_class=0,
            classes=classes,
        )
        return out

    with _no_autocast(hidden.device):
        for chunk in _chunks(hidden, weight, chunk_rows):
            x = hidden[chunk].to(dtype)
            grad = logits_gradient(x, chunk)
            if wants_hidden:
                sums = hidden.new_zeros(x.shape, dtype=total)
                add_product_(sums, grad, factor)
                grad_hidden[chunk] = sums
            if wants_weight:
                # Ignored rows have a gradient of zero, but zero times NaN or inf is NaN.
                ignored = (target[chunk] == ignore_index).unsqueeze(1)
                add_product_(grad_weight, grad.t(), x.masked_fill(ignored, 0.0))
            if wants_bias:
                grad_bias += grad.sum(0, dtype=total)
            del grad  # before the next chunk's logits
    return (
        grad_hidden,
        grad_weight.to(weight.dtype),
        grad_bias if bias is None else grad_bias.to(bias.dtype),
    )


def _gradient_fake(
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    target: torch.Tensor,
    class_weight: torch.Tensor | None,
    statistics: torch.Tensor,
    dtype: torch.dtype,
    *rest: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    *_options, wants_hidden, wants_weight, wants_bias = rest
    bias_dtype = accumulation_dtype(dtype) if bias is None else bias.dtype
    return (
        hidden.new_empty(hidden.shape if wants_hidden else 0),
        weight.new_empty(weight.shape if wants_weight else 0),
        weight.new_empty(weight.shape[0] if wants_bias else 0, dtype=bias_dtype),
    )


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    hidden, weight, bias, target, class_weight, *options, _argmax, _check_labels = inputs
    *_, argmax, statistics = output
    ctx.mark_non_differentiable(argmax, statistics)
    # An output that is not used has no gradient, instead of a tensor of zeros.
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(hidden, weight, bias, target, class_weight, statistics)
    ctx.options = options


def _backward(
    ctx: Any,
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    *_no_gradient: None,
) -> tuple[torch.Tensor | None, ...]:
    gradients: list[torch.Tensor | None] = [None] * 3
    wanted = ctx.needs_input_grad[:3]
    if grad_losses is not None or grad_lse is not None:
        computed = _operators.linear_cross_entropy_rows_gradient(
            grad_losses, grad_lse, *ctx.saved_tensors, *ctx.options, *wanted
        )
        gradients = [g if want else None for g, want in zip(computed, wanted, strict=True)]
    return *gradients, *(None,) * 10


def _chunks(hidden: torch.Tensor, weight: torch.Tensor, rows: int | None) -> Iterator[slice]:
    """Slices of rows; an empty one of an empty batch."""
    if rows is None:
        rows = _default_rows(weight.shape[0], hidden.device)
    for start in range(0, max(hidden.shape[0], 1), rows):
        yield slice(start, min(start + rows, hidden.shape[0]))


def _default_rows(classes: int, device: torch.device) -> int:
    if device.type == "cpu":
        return max(CPU_ROWS, CPU_ELEMENTS // classes)
    return max(DEVICE_ROWS, DEVICE_ELEMENTS // classes // TILE_ROWS * TILE_ROWS)


def _no_autocast(device: torch.device) -> AbstractContextManager[Any]:
    # The operands already have their dtype; autocast would cast the float32 ones to half.
    if torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def _refuse_second_derivative(ctx: Any, *_: Any) -> None:
    raise RuntimeError(
        "precision_lint's linear_cross_entropy is differentiable once; for a second derivative "
        f"use {_INSTEAD}"
    )


def _refuse_vmap(*_: Any) -> None:
    raise RuntimeError(
        "precision_lint's linear_cross_entropy does not run under torch.vmap; it takes batches "
        "itself: pass hidden states of shape (..., width)"
    )


_ROWS = "precision_lint::linear_cross_entropy_rows"
register(
    _ROWS,
    f"({_PARAMETERS}, ScalarType dtype, SymInt? chunk_rows, {_OPTIONS}, bool argmax, "
    "bool check_labels) -> (Tensor, Tensor, Tensor, Tensor)",
    _rows,
    _rows_fake,
)
torch.library.register_autograd(_ROWS, _backward, setup_context=_save)

_GRADIENT = "precision_lint::linear_cross_entropy_rows_gradient"
register(
    _GRADIENT,
    f"(Tensor? grad_losses, Tensor? grad_lse, {_PARAMETERS}, Tensor statistics, "
    f"ScalarType dtype, SymInt? chunk_rows, {_OPTIONS}, bool wants_hidden, bool wants_weight, "
    "bool wants_bias) -> (Tensor, Tensor, Tensor)",
    _gradient,
    _gradient_fake,
)
torch.library.register_autograd(_GRADIENT, _refuse_second_derivative)

if hasattr(torch.library, "register_vmap"):  # torch 2.5
    torch.library.register_vmap(_ROWS, _refuse_vmap)
    torch.library.register_vmap(_GRADIENT, _refuse_vmap)
