"""Cross-entropy that computes in float32 whatever the dtype of the logits."""

from __future__ import annotations

import importlib.util
import math

import torch

from precision_lint.runtime.cross_entropy_reference import reference_row_losses

_REDUCTIONS = ("mean", "sum", "none")
_KERNEL_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


_HAS_TRITON = _is_installed("triton")


def cross_entropy(
    logits: torch.Tensor,
    target: torch.Tensor,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    logit_scale: float = 1.0,
    softcap: float = 0.0,
) -> torch.Tensor:
    """``F.cross_entropy`` for class indices, in float32 from the load to the returned loss.

    ``F.cross_entropy`` on bfloat16 logits returns a bfloat16 loss (3 significant digits), and
    ``F.cross_entropy(logits.float())`` keeps several float32 copies of the logits. On CUDA and
    ROCm this is one Triton kernel per direction that reads the logits as they are; elsewhere,
    and for float64, it is the same computation in torch operators.

    The loss is that of ``z = softcap * tanh(logit_scale * logits / softcap)``, or of
    ``z = logit_scale * logits`` without a softcap. The logits are never written to and no host
    synchronisation takes place.

    Args:
        logits: unnormalised scores of shape (C,), (N, C) or (N, C, d1, ...), in bfloat16,
            float16, float32 or float64, any strides.
        target: class indices in [0, C), int64 or uint8, of shape (), (N,) or (N, d1, ...).
        ignore_index: the label of positions that do not count; their loss and gradient are zero
            whatever their logits, NaN included.
        reduction: "mean" over the positions that count (NaN when there is none, as in torch),
            "sum" or "none".
        logit_scale: finite factor on the logits, such as an inverse temperature.
        softcap: bound of the scaled logits (Gemma 2: 30.0); 0.0 for none.

    Returns:
        The loss in float32 (float64 for float64 logits): a scalar, or with "none" a tensor of
        the shape of ``target``.

    Raises:
        ValueError: shapes do not fit, the devices differ, no classes, an unknown reduction, or a
            factor out of range.
        TypeError: logits are not of a supported dtype, the target holds class probabilities, or a
            factor is a tensor.
        RuntimeError: target of another integer dtype than int64 and uint8 (as torch does).
        IndexError: a label outside [0, C), on CPU. In the kernel such a label makes the loss and
            the row's gradient NaN, since looking at it would wait for the device.

    The kernel is differentiable once: a second derivative through it raises RuntimeError.
    """
    _check(logits, target, reduction, logit_scale, softcap)
    rows, labels = _as_rows(logits, target)
    row_losses = reference_row_losses
    if _HAS_TRITON and rows.is_cuda and rows.dtype in _KERNEL_DTYPES:
        from precision_lint.runtime.cross_entropy_triton import fused_row_losses as row_losses
    losses = row_losses(rows, labels, ignore_index, logit_scale, softcap)
    if reduction == "none":
        return losses.view(target.shape)
    if reduction == "sum":
        return losses.sum()
    return losses.sum() / (labels != ignore_index).sum()


def _as_rows(logits: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits as (rows, classes) and labels as (rows,) int64; views where strides allow."""
    labels = target.reshape(-1).long()
    if logits.dim() == 1:
        return logits.unsqueeze(0), labels
    if logits.dim() == 2:
        return logits, labels
    return logits.movedim(1, -1).reshape(-1, logits.shape[1]), labels


def _check(
    logits: torch.Tensor, target: torch.Tensor, reduction: str, logit_scale: float, softcap: float
) -> None:
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is one of {', '.join(_REDUCTIONS)}, not {reduction!r}")
    if isinstance(logit_scale, torch.Tensor) or isinstance(softcap, torch.Tensor):
        raise TypeError("logit_scale and softcap are Python numbers; multiply the logits instead")
    # Comparisons, since torch.compile cannot trace math.isfinite of a float that varies.
    if not -math.inf < logit_scale < math.inf:
        raise ValueError(f"logit_scale must be finite, not {logit_scale}")
    if not 0.0 <= softcap < math.inf:
        raise ValueError(f"softcap must be finite and at least 0, not {softcap}")
    if logits.dtype not in (*_KERNEL_DTYPES, torch.float64):
        raise TypeError(f"logits must be bfloat16, float16, float32 or float64, not {logits.dtype}")
    if target.is_floating_point():
        raise TypeError(
            "target must hold class indices; for class probabilities use "
            "torch.nn.functional.cross_entropy(logits.float(), target)"
        )
    if target.dtype not in (torch.int64, torch.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype}")
    if logits.dim() == 0:
        raise ValueError("logits need a class dimension, but have none")
    expected = (*logits.shape[:1], *logits.shape[2:]) if logits.dim() > 1 else ()
    if target.shape != expected:
        raise ValueError(
            f"logits of shape {tuple(logits.shape)} need a target of shape {tuple(expected)}, "
            f"not {tuple(target.shape)}"
        )
    if logits.shape[min(1, logits.dim() - 1)] == 0:
        raise ValueError(f"logits of shape {tuple(logits.shape)} have no classes")
    if logits.device != target.device:
        raise ValueError(f"logits are on {logits.device}, but the target is on {target.device}")
