"""Automatic mixed precision: loss scaling where it is needed, and only there."""

from __future__ import annotations

from typing import Any

import torch

from precision_lint.runtime.dtypes import resolve_dtype


def grad_scaler(
    dtype: torch.dtype | str,
    device: torch.device | str = "cuda",
    *,
    enabled: bool = True,
    **kwargs: Any,
) -> torch.amp.GradScaler:
    """A ``torch.amp.GradScaler`` that scales for float16 autocast only.

    float16 gradients underflow below 6e-8, hence loss scaling. bfloat16 has the exponent range of
    float32, so there is nothing to scale; worse, up to and including torch 2.13 ``unscale_`` has
    no CUDA kernel for bfloat16 gradients and raises. A disabled scaler keeps the training loop
    unchanged: ``scale`` returns the loss, ``step`` calls ``optimizer.step()``.

    Args:
        dtype: the autocast dtype, as a ``torch.dtype`` or any name ``resolve_dtype`` knows.
        device: the device type of the gradients; an index ("cuda:1") is ignored.
        enabled: the caller's own switch; the scaler is enabled when this holds *and* ``dtype``
            is float16.
        **kwargs: passed on to ``torch.amp.GradScaler`` (``init_scale``, ``growth_interval``, ...).

    Raises:
        ValueError, TypeError: ``dtype`` does not name a torch dtype.
    """
    needed = resolve_dtype(dtype) == torch.float16
    return torch.amp.GradScaler(
        torch.device(device).type, enabled=bool(enabled) and needed, **kwargs
    )
