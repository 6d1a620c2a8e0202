"""The loss of a linear layer's output, computed chunk by chunk without keeping all logits."""

from __future__ import annotations

from typing import Literal, overload

import torch

from precision_lint.runtime.cross_entropy_arguments import (
    check_class_weight,
    check_factors,
    check_target_dtype,
)
from precision_lint.runtime.cross_entropy_parallel import is_dtensor
from precision_lint.runtime.cross_entropy_reduction import CrossEntropyOutput, Reduction
from precision_lint.runtime.cross_entropy_rows import RowOptions, accumulation_dtype
from precision_lint.runtime.linear_cross_entropy_operator import row_losses

_DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)


@overload
def linear_cross_entropy(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    target: torch.Tensor,
    *,
    bias: torch.Tensor | None = ...,
    class_weight: torch.Tensor | None = ...,
    ignore_index: int = ...,
    reduction: str = ...,
    label_smoothing: float = ...,
    logit_scale: float = ...,
    softcap: float = ...,
    z_loss: float = ...,
    num_items: int | float | torch.Tensor | None = ...,
    return_lse: Literal[False] = ...,
    return_z_loss: Literal[False] = ...,
    return_accuracy: Literal[False] = ...,
    return_argmax: Literal[False] = ...,
    chunk_rows: int | None = ...,
    check_labels: bool = ...,
) -> torch.Tensor: ...


@overload
def linear_cross_entropy(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    target: torch.Tensor,
    *,
    bias: torch.Tensor | None = ...,
    class_weight: torch.Tensor | None = ...,
    ignore_index: int = ...,
    reduction: str = ...,
    label_smoothing: float = ...,
    logit_scale: float = ...,
    softcap: float = ...,
    z_loss: float = ...,
    num_items: int | float | torch.Tensor | None = ...,
    return_lse: bool = ...,
    return_z_loss: bool = ...,
    return_accuracy: bool = ...,
    return_argmax: bool = ...,
    chunk_rows: int | None = ...,
    check_labels: bool = ...,
) -> torch.Tensor | CrossEntropyOutput: ...


def linear_cross_entropy(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    target: torch.Tensor,
    *,
    bias: torch.Tensor | None = None,
    class_weight: torch.Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    logit_scale: float = 1.0,
    softcap: float = 0.0,
    z_loss: float = 0.0,
    num_items: int | float | torch.Tensor | None = None,
    return_lse: bool = False,
    return_z_loss: bool = False,
    return_accuracy: bool = False,
    return_argmax: bool = False,
    chunk_rows: int | None = None,
    check_labels: bool = False,
) -> torch.Tensor | CrossEntropyOutput:
    """``cross_entropy(F.linear(hidden, weight, bias), target)``, a few rows of logits at a time.

    The logits are the largest tensor of a language model's step: 8192 tokens of a vocabulary of
    128256 are 2.1 GB in bfloat16, as much again for their gradient. Here only ``chunk_rows``
    rows exist at a time. The backward pass recomputes them, which adds a fourth matrix product to
    the three of plain training. It therefore needs only a few numbers per row from the forward
    pass, and the loss can be used like any other: every reduction, a gradient of the lse, a second
    backward pass, gradient checkpointing. The gradient of a parameter that does not require it
    is neither computed nor allocated. It does not synchronize with the host; therefore
    ignored positions are computed like all others.

    Precision: on CPU, and on CUDA and ROCm with torch >= 2.10, the logits of half operands stay
    in float32, which ``F.linear`` on half operands does not do; elsewhere they are half. The
    gradient of the logits enters the products of a GPU in the operands' dtype, as in plain
    training. The gradients of weight and bias are summed over the chunks in float32, in a buffer
    of the weight's size, and rounded once to the parameter's dtype.

    Under autocast the operands enter the products in its dtype, as in ``F.linear``, but a float32
    parameter gets the float32 gradient without the rounding to half in between.

    Args:
        hidden: of shape (..., H), in bfloat16, float16, float32 or float64.
        weight: of shape (C, H), as in ``torch.nn.Linear``.
        target: class indices in [0, C), int64 or uint8, of shape (...).
        bias: of shape (C,).
        class_weight: factor of each class, ``weight`` of ``cross_entropy``.
        ignore_index: the label of positions that do not count; their loss and gradient are zero
            and they add nothing to the other gradients, for any values, including NaN.
        reduction, label_smoothing, logit_scale, softcap, z_loss, num_items, return_lse,
            return_z_loss, return_accuracy, return_argmax, check_labels: as in ``cross_entropy``.
        chunk_rows: the positions whose logits are kept at a time: 4 * C bytes each in float32,
            and 2 * C for their gradient on a GPU. By default at least 1024 (CPU: 128), and more
            while that is below 256 MiB (CPU: 16 MiB). Fewer rows take less memory and more time.

    Returns:
        The loss in float32 (float64 for float64 operands): a scalar, or with "none" a tensor of
        the shape of ``target``. With any ``return_*``, a ``CrossEntropyOutput``.

    Raises:
        ValueError: shapes do not fit, the devices differ, no classes, an unknown reduction, a
            factor out of range, ``chunk_rows`` below 1, a class weight that requires grad, or
            ``num_items`` with a reduction other than "mean".
        TypeError: operands are not of a supported dtype or are DTensors, the target holds class
            probabilities, or a factor is a tensor.
        RuntimeError: hidden, weight and bias have different dtypes outside autocast (as in
            ``F.linear``); target of another integer dtype than int64 and uint8; a second or a
            forward-mode derivative; ``torch.vmap``; ``torch.func.grad``.
        IndexError: a label outside [0, C), see ``check_labels`` of ``cross_entropy``.
    """
    check_factors(
        label_smoothing=label_smoothing, logit_scale=logit_scale, softcap=softcap, z_loss=z_loss
    )
    wanted = Reduction(
        reduction, num_items, z_loss, return_lse, return_z_loss, return_accuracy, return_argmax
    )
    _check_tensors(hidden, weight, target, bias)
    check_class_weight(class_weight, weight.shape[0], hidden.device, name="class_weight")
    if chunk_rows is not None and chunk_rows < 1:
        raise ValueError(f"chunk_rows must be at least 1, not {chunk_rows}")
    dtype = _product_dtype(hidden, weight, bias)
    if class_weight is not None:
        class_weight = class_weight.to(accumulation_dtype(dtype)).contiguous()
    losses = row_losses(
        hidden.reshape(target.numel(), hidden.shape[-1]),
        weight,
        bias,
        target.reshape(-1).long(),
        class_weight,
        RowOptions(ignore_index, float(logit_scale), float(softcap), float(label_smoothing)),
        dtype=dtype,
        chunk_rows=chunk_rows,
        argmax=wanted.needs_argmax,
        check_labels=check_labels,
    )
    return wanted.of(losses, target, ignore_index=ignore_index, weighted=class_weight is not None)


def _product_dtype(
    hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> torch.dtype:
    """The one dtype of the operands, after autocast, which leaves float64 alone."""
    dtypes = [t.dtype for t in (hidden, weight, bias) if t is not None]
    kind = hidden.device.type
    # Not `torch.amp.is_autocast_available`, which torch.compile cannot trace in torch 2.5.
    if kind != "meta" and torch.is_autocast_enabled(kind):
        lower = torch.get_autocast_dtype(kind)
        dtypes = [dtype if dtype == torch.float64 else lower for dtype in dtypes]
    if any(dtype != dtypes[0] for dtype in dtypes):
        raise RuntimeError(
            "hidden, weight and bias must have the same dtype, but got "
            + ", ".join(str(dtype) for dtype in dtypes)
        )
    return dtypes[0]


def _check_tensors(
    hidden: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, bias: torch.Tensor | None
) -> None:
    operands = [("hidden", hidden), ("weight", weight)]
    if bias is not None:
        operands.append(("bias", bias))
    for name, operand in operands:
        if is_dtensor(operand):
            raise TypeError(f"{name} is a DTensor; pass a whole tensor: {name}.full_tensor()")
        if operand.dtype not in _DTYPES:
            raise TypeError(
                f"{name} must be bfloat16, float16, float32 or float64, not {operand.dtype}"
            )
        if operand.device != target.device:
            raise ValueError(f"{name} is on {operand.device}, but the target is on {target.device}")
    check_target_dtype(target)
    if weight.dim() != 2 or weight.shape[0] == 0:
        raise ValueError(f"weight is of shape (classes, width), not {tuple(weight.shape)}")
    classes, width = weight.shape
    if hidden.dim() == 0 or hidden.shape[-1] != width:
        raise ValueError(f"hidden is of shape (..., {width}), not {tuple(hidden.shape)}")
    if target.shape != hidden.shape[:-1]:
        raise ValueError(
            f"hidden of shape {tuple(hidden.shape)} needs a target of shape "
            f"{tuple(hidden.shape[:-1])}, not {tuple(target.shape)}"
        )
    if bias is not None and bias.shape != (classes,):
        raise ValueError(
            f"{classes} classes need a bias of shape ({classes},), not {tuple(bias.shape)}"
        )
