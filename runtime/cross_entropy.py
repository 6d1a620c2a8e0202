"""Cross-entropy that computes in float32 whatever the dtype of the logits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import torch

from precision_lint.runtime.cross_entropy_arguments import (
    check_class_weight,
    check_factors,
    check_target_dtype,
)
from precision_lint.runtime.cross_entropy_operator import row_losses
from precision_lint.runtime.cross_entropy_parallel import (
    is_dtensor,
    local_arguments,
    replicated,
    shard_in_group,
    whole,
)
from precision_lint.runtime.cross_entropy_reduction import CrossEntropyOutput, Reduction
from precision_lint.runtime.cross_entropy_rows import RowOptions, accumulation_dtype

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

_DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)


@overload
def cross_entropy(
    logits: torch.Tensor,
    target: torch.Tensor,
    *,
    weight: torch.Tensor | None = ...,
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
    inplace: bool = ...,
    check_labels: bool = ...,
    process_group: ProcessGroup | None = ...,
) -> torch.Tensor: ...


@overload
def cross_entropy(
    logits: torch.Tensor,
    target: torch.Tensor,
    *,
    weight: torch.Tensor | None = ...,
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
    inplace: bool = ...,
    check_labels: bool = ...,
    process_group: ProcessGroup | None = ...,
) -> torch.Tensor | CrossEntropyOutput: ...


def cross_entropy(
    logits: torch.Tensor,
    target: torch.Tensor,
    *,
    weight: torch.Tensor | None = None,
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
    inplace: bool = False,
    check_labels: bool = False,
    process_group: ProcessGroup | None = None,
) -> torch.Tensor | CrossEntropyOutput:
    """``F.cross_entropy`` for class indices, in float32 from the load to the returned loss.

    ``F.cross_entropy`` on bfloat16 logits returns a bfloat16 loss (3 significant digits), and
    ``F.cross_entropy(logits.float())`` keeps several float32 copies of the logits. On CUDA and
    ROCm this is one Triton kernel per direction that reads the logits as they are; elsewhere,
    and for float64, it is the same computation in torch operators, a few rows at a time.

    The loss is that of ``z = softcap * tanh(logit_scale * logits / softcap)``, or of
    ``z = logit_scale * logits`` without a softcap. It does not synchronize with the host.

    Classes may be sharded over processes, by ``process_group`` or by DTensor logits. The loss is
    then that of the whole vocabulary, the same in every process, and the gradient is that of the
    process's own logits. The processes exchange 32 bytes per position in the forward pass (64 for
    float64) and nothing in the backward pass.

    Args:
        logits: unnormalized scores of shape (C,), (N, C) or (N, C, d1, ...), in bfloat16,
            float16, float32 or float64, any strides. -inf excludes a class. A DTensor (torch
            2.5) may be sharded by class over one dimension of its mesh, evenly or not; its
            gradient has its placements. Target, weight and num_items are then whole, as DTensors
            or as plain tensors equal in all processes, and the results are replicated DTensors.
        target: class indices in [0, C), int64 or uint8, of shape (), (N,) or (N, d1, ...).
        weight: factor of each class, shape (C,), any floating dtype; used in float32.
        ignore_index: the label of positions that do not count; their loss and gradient are zero
            for any logits, including NaN.
        reduction: "mean" over the positions that count (NaN when there is none), weighted by
            their labels' weights, as in torch; "sum"; or "none".
        label_smoothing: share of the target, in [0, 1], that is spread evenly over the classes.
            Classes with a logit of -inf get none of it, as if they did not exist. (torch gives
            an infinite loss.)
        logit_scale: finite factor on the logits, such as an inverse temperature.
        softcap: bound of the scaled logits (Gemma 2: 30.0); 0.0 for none.
        z_loss: factor of the squared log-sum-exp that each position adds to its loss (PaLM:
            1e-4). Class weights do not apply to it: its mean is over the positions that count.
        num_items: what "mean" divides by instead of this call's own count: with gradient
            accumulation or data parallelism the count of the whole batch. A number or a tensor
            of one element; a tensor avoids one compilation by ``torch.compile`` per number.
        return_lse: also return the log-sum-exp of each position's ``z``.
        return_z_loss: also return the z-loss term of the loss.
        return_accuracy: also return how many positions have their label as argmax, reduced as
            the loss is, without class weights.
        return_argmax: also return the class with the largest ``z``, the first one if several tie.
        inplace: the gradient of the logits may be written to their memory when it is computed in
            the backward pass, which saves as many bytes as the logits have. A later use of the
            logits by autograd, or a second backward pass, then raises RuntimeError. Without
            effect under ``torch.compile``, which plans its own buffers.
        check_labels: raise IndexError for a label outside [0, C) on any device, which synchronizes
            with the device. On CPU such a label always raises; elsewhere it makes the loss and the
            row's gradient NaN.
        process_group: the group over which the classes are sharded, in equal parts and in the
            order of its ranks, as in Megatron-LM with its padded vocabulary. ``logits`` and
            ``weight`` are the shard of this process, (N, C / world size) and (C / world size,);
            ``target`` indexes the whole vocabulary. All ranks must make the call with the
            same target and options and, in the backward pass, the same upstream gradient.

    Returns:
        The loss in float32 (float64 for float64 logits): a scalar, or with "none" a tensor of
        the shape of ``target``. With any ``return_*``, a ``CrossEntropyOutput``.

    Raises:
        ValueError: shapes do not fit, the devices differ, no classes, an unknown reduction, a
            factor out of range, a weight that requires grad, ``num_items`` with a reduction
            other than "mean", DTensor logits with ``process_group``, with other placements than
            named above, or with a process that holds no class.
        TypeError: logits are not of a supported dtype, the target holds class probabilities, a
            factor is a tensor, or ``process_group`` is not one that this process belongs to.
        RuntimeError: target of another integer dtype than int64 and uint8 (as torch does); a
            second or a forward-mode derivative; ``torch.vmap``; ``torch.func.grad``.
        IndexError: a label outside [0, C), see ``check_labels``.
    """
    check_factors(
        label_smoothing=label_smoothing, logit_scale=logit_scale, softcap=softcap, z_loss=z_loss
    )
    num_items = whole(num_items)
    wanted = Reduction(
        reduction, num_items, z_loss, return_lse, return_z_loss, return_accuracy, return_argmax
    )
    _check_tensors(logits, target, weight)
    mesh = shard = None
    if is_dtensor(logits):
        if process_group is not None:
            raise ValueError("DTensor logits know their process group: leave process_group out")
        mesh = logits.device_mesh
        logits, target, weight, shard = local_arguments(logits, target, weight)
    elif process_group is not None:
        shard = shard_in_group(logits.shape[min(1, logits.dim() - 1)], process_group)
    rows, labels = _as_rows(logits, target)
    if weight is not None:
        weight = weight.to(accumulation_dtype(logits.dtype)).contiguous()
    losses = row_losses(
        rows,
        labels,
        weight,
        RowOptions(ignore_index, float(logit_scale), float(softcap), float(label_smoothing)),
        argmax=wanted.needs_argmax,
        inplace=inplace and not torch.compiler.is_compiling(),
        check_labels=check_labels,
        shard=shard,
    )
    result = wanted.of(losses, target, ignore_index=ignore_index, weighted=weight is not None)
    return result if mesh is None else replicated(result, mesh)


class CrossEntropyLoss(torch.nn.Module):
    """``cross_entropy`` as a module, to replace ``torch.nn.CrossEntropyLoss``.

    Takes the options of ``cross_entropy``; ``weight`` becomes a buffer, which moves with the
    module. ``num_items`` differs between batches and is an argument of the call. A module with a
    ``process_group`` can be neither deep-copied nor pickled, like the group itself.
    """

    weight: torch.Tensor | None

    def __init__(
        self,
        weight: torch.Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        logit_scale: float = 1.0,
        softcap: float = 0.0,
        z_loss: float = 0.0,
        return_lse: bool = False,
        return_z_loss: bool = False,
        return_accuracy: bool = False,
        return_argmax: bool = False,
        inplace: bool = False,
        check_labels: bool = False,
        process_group: ProcessGroup | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.label_smoothing = label_smoothing
        self.logit_scale = logit_scale
        self.softcap = softcap
        self.z_loss = z_loss
        self.return_lse = return_lse
        self.return_z_loss = return_z_loss
        self.return_accuracy = return_accuracy
        self.return_argmax = return_argmax
        self.inplace = inplace
        self.check_labels = check_labels
        self.process_group = process_group

    def forward(
        self,
        logits: torch.Tensor,
        target: torch.Tensor,
        *,
        num_items: int | float | torch.Tensor | None = None,
    ) -> torch.Tensor | CrossEntropyOutput:
        """The loss; shapes, results and errors as for ``cross_entropy``."""
        return cross_entropy(
            logits,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
            logit_scale=self.logit_scale,
            softcap=self.softcap,
            z_loss=self.z_loss,
            num_items=num_items,
            return_lse=self.return_lse,
            return_z_loss=self.return_z_loss,
            return_accuracy=self.return_accuracy,
            return_argmax=self.return_argmax,
            inplace=self.inplace,
            check_labels=self.check_labels,
            process_group=self.process_group,
        )


def _as_rows(logits: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits as (rows, classes) and labels as (rows,) int64; views where strides allow."""
    labels = target.reshape(-1).long()
    if logits.dim() == 1:
        return logits.unsqueeze(0), labels
    if logits.dim() == 2:
        return logits, labels
    return logits.movedim(1, -1).reshape(-1, logits.shape[1]), labels


def _check_tensors(logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None) -> None:
    if logits.dtype not in _DTYPES:
        raise TypeError(f"logits must be bfloat16, float16, float32 or float64, not {logits.dtype}")
    check_target_dtype(target)
    if logits.dim() == 0:
        raise ValueError("logits need a class dimension, but have none")
    expected = (*logits.shape[:1], *logits.shape[2:]) if logits.dim() > 1 else ()
    if target.shape != expected:
        raise ValueError(
            f"logits of shape {tuple(logits.shape)} need a target of shape {tuple(expected)}, "
            f"not {tuple(target.shape)}"
        )
    classes = logits.shape[min(1, logits.dim() - 1)]
    if classes == 0:
        raise ValueError(f"logits of shape {tuple(logits.shape)} have no classes")
    if logits.device != target.device:
        raise ValueError(f"logits are on {logits.device}, but the target is on {target.device}")
    check_class_weight(weight, classes, logits.device, name="weight")
