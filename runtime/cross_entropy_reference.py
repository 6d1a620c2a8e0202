"""The same loss in torch operators: what CPUs run, and GPUs without Triton."""

from __future__ import annotations

import torch
import torch.nn.functional as F


def reference_row_losses(
    logits: torch.Tensor,
    target: torch.Tensor,
    ignore_index: int,
    logit_scale: float,
    softcap: float,
) -> torch.Tensor:
    """The loss of each row, zero where ignored; float64 for float64 logits, else float32.

    Args and shapes as in ``fused_row_losses``; differentiable twice.
    """
    # Ignored rows are replaced, not multiplied by zero: their gradient is then exactly zero even
    # where the logits are NaN (F.cross_entropy gives NaN, torch 2.13).
    ignored = target == ignore_index
    z = logits.masked_fill(ignored.unsqueeze(1), 0.0)
    z = z.to(torch.promote_types(z.dtype, torch.float32))
    if logit_scale != 1.0:
        z = z * logit_scale
    if softcap != 0.0:
        z = softcap * torch.tanh(z / softcap)
    return F.cross_entropy(z, target, ignore_index=ignore_index, reduction="none")
