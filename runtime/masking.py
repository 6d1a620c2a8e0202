"""Masked scores: filling with a representable value, and a softmax for fully masked rows."""

from __future__ import annotations

import math

import torch

from precision_lint.runtime.dtypes import mask_value


def masked_fill(
    scores: torch.Tensor, mask: torch.Tensor, value: float | None = None
) -> torch.Tensor:
    """``scores.masked_fill(mask, value)`` with a value that the dtype of the scores can represent.

    ``masked_fill(mask, -1e9)`` on float16, or the minimum of float32 on bfloat16, raises "value
    cannot be converted to type c10::Half without overflow" (torch 2.13), at the first training
    run in half precision. Here a finite value outside the range of the dtype becomes its largest
    or smallest finite value. Infinities are intentional, and stay.

    Args:
        scores: floating, of any shape; it is not changed.
        mask: bool, broadcastable to ``scores``; True where the value is filled in.
        value: the value to fill in; ``mask_value(scores.dtype)`` if None, to which a second mask
            can be added.

    Returns:
        A tensor of the shape, dtype and device of ``scores``; its gradient is zero where masked.

    Raises:
        TypeError: ``scores`` is not floating, or its dtype has no mask value.
        RuntimeError: ``mask`` is not bool or does not broadcast, as in torch.
    """
    if value is None:
        value = mask_value(scores.dtype)
    elif not scores.is_floating_point():
        raise TypeError(f"masked_fill() takes floating scores, not {scores.dtype}")
    elif math.isfinite(value):
        limits = torch.finfo(scores.dtype)
        value = min(max(value, limits.min), limits.max)
    return scores.masked_fill(mask, value)


def safe_softmax(
    scores: torch.Tensor, dim: int = -1, *, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """Softmax in float32, with zeros where ``torch.softmax`` gives NaN for a masked row.

    A row, along ``dim``, is masked if nothing in it is above ``mask_value(scores.dtype)``. If it is
    all -inf, ``torch.softmax`` gives NaN, which spreads to every parameter; if it is all at the
    minimum of the dtype, it gives uniform attention to padding. Such a row gets zeros
    and a zero gradient. In all other rows it is ``torch.softmax(scores, dim, dtype=float32)``.

    Args:
        scores: floating, of any shape; computed in float32 (float64 for float64).
        dim: the dimension that sums to 1.
        dtype: of the result; that of ``scores`` if None. float16 and bfloat16 round each
            probability: pass ``torch.float32`` if a loss or a log follows.

    Returns:
        Probabilities of the shape of ``scores``. NaN and +inf give NaN, as in torch.

    Raises:
        TypeError: ``scores`` is not floating.
        IndexError: ``dim`` is out of range.
    """
    limit = mask_value(scores.dtype)
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if scores.numel():
        masked = scores.amax(dim, keepdim=True) <= limit
        # Zeros before the softmax: a NaN that is only masked after it would reach the gradient.
        wide = wide.masked_fill(masked, 0.0)
        probabilities = torch.softmax(wide, dim).masked_fill(masked, 0.0)
    else:
        probabilities = torch.softmax(wide, dim)
    return probabilities.to(dtype or scores.dtype)
