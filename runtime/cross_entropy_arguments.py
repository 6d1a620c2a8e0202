"""Checks of the arguments that all losses share."""

from __future__ import annotations

import math

import torch


def check_factors(**factors: float) -> None:
    """Raises TypeError for tensors and ValueError for factors out of range."""
    for name, value in factors.items():
        if isinstance(value, torch.Tensor):
            raise TypeError(f"{name} is a Python number, not a tensor")
        # Comparisons, since torch.compile cannot trace math.isfinite of a float that varies.
        if not -math.inf < value < math.inf:
            raise ValueError(f"{name} must be finite, not {value}")
        if value < 0.0 and name != "logit_scale":
            raise ValueError(f"{name} must be at least 0, not {value}")
        if value > 1.0 and name == "label_smoothing":
            raise ValueError(f"label_smoothing must be at most 1, not {value}")


def check_target_dtype(target: torch.Tensor) -> None:
    """Raises TypeError for class probabilities, RuntimeError for other integer dtypes."""
    if target.is_floating_point():
        raise TypeError(
            "target must hold class indices; for class probabilities use "
            "torch.nn.functional.cross_entropy(logits.float(), target)"
        )
    if target.dtype not in (torch.int64, torch.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype}")


def check_class_weight(
    weight: torch.Tensor | None, classes: int, device: torch.device, *, name: str
) -> None:
    """Raises TypeError for a dtype that is not floating, ValueError for other errors.

    Args:
        device: that of the scores.
        name: how the caller calls the weight.
    """
    if weight is None:
        return
    if not weight.is_floating_point():
        raise TypeError(f"{name} must be floating, not {weight.dtype}")
    if weight.shape != (classes,):
        raise ValueError(
            f"{classes} classes need a {name} of as many elements, not {tuple(weight.shape)}"
        )
    if weight.device != device:
        raise ValueError(f"{name} is on {weight.device}, but the scores are on {device}")
    if weight.requires_grad:
        raise ValueError(f"{name} must not require grad: it is not differentiated")
