"""The fused cross-entropy: launches the Triton kernels and gives them to autograd.

The only place that launches them, so that tests reach the very kernels that CUDA runs: on CPU
tensors through Triton's interpreter, and by compiling them for each GPU target.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import triton

from precision_lint.runtime.cross_entropy_kernels import backward_kernel, forward_kernel

# Classes per block. A block of 64k float32 values spills registers; 32k is the most that does not.
FORWARD_BLOCK = 16384
BACKWARD_BLOCK = 4096


def fused_row_losses(
    logits: torch.Tensor,
    target: torch.Tensor,
    ignore_index: int,
    logit_scale: float,
    softcap: float,
) -> torch.Tensor:
    """The float32 loss of each row, zero where ignored; differentiable once in ``logits``.

    Args:
        logits: (rows, classes) in bfloat16, float16 or float32, any strides; never written to.
        target: (rows,) int64.
        ignore_index: the label whose rows have loss and gradient zero.
        logit_scale: factor on the logits.
        softcap: cap of the scaled logits, 0 for none.
    """
    if logits.stride(1) != 1:
        logits = logits.contiguous()
    losses: torch.Tensor = _RowLosses.apply(  # type: ignore[no-untyped-call]
        logits, target.contiguous(), ignore_index, logit_scale, softcap
    )
    return losses


class _RowLosses(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        logits: torch.Tensor,
        target: torch.Tensor,
        ignore_index: int,
        logit_scale: float,
        softcap: float,
    ) -> torch.Tensor:
        rows, classes = logits.shape
        losses, peak, log_sum = torch.empty(
            (3, rows), dtype=torch.float32, device=logits.device
        ).unbind()
        block = _block(classes, FORWARD_BLOCK)
        if rows:
            with _on_device_of(logits):
                forward_kernel[(rows,)](
                    logits,
                    logits.stride(0),
                    target,
                    losses,
                    peak,
                    log_sum,
                    classes,
                    ignore_index,
                    logit_scale,
                    softcap,
                    HAS_SCALE=bool(logit_scale != 1.0),
                    HAS_SOFTCAP=bool(softcap != 0.0),
                    BLOCK=block,
                    num_warps=_num_warps(block),
                )
        ctx.save_for_backward(logits, target, peak, log_sum)
        ctx.parameters = (ignore_index, logit_scale, softcap)
        return losses

    @staticmethod
    def backward(
        ctx: Any, grad_losses: torch.Tensor
    ) -> tuple[torch.Tensor, None, None, None, None]:
        grad_logits: torch.Tensor = _RowGradients.apply(  # type: ignore[no-untyped-call]
            grad_losses, *ctx.saved_tensors, *ctx.parameters
        )
        return grad_logits, None, None, None, None


class _RowGradients(torch.autograd.Function):
    """The gradient as a function of its own, whose derivative is an error instead of zero.

    ``once_differentiable`` treats the saved logits as constants: a gradient penalty would train
    on without its effect.
    """

    @staticmethod
    def forward(
        ctx: Any,
        grad_losses: torch.Tensor,
        logits: torch.Tensor,
        target: torch.Tensor,
        peak: torch.Tensor,
        log_sum: torch.Tensor,
        ignore_index: int,
        logit_scale: float,
        softcap: float,
    ) -> torch.Tensor:
        rows, classes = logits.shape
        # A new buffer: the caller may use the logits again, or run backward twice.
        grad_logits = torch.empty((rows, classes), dtype=logits.dtype, device=logits.device)
        block = _block(classes, BACKWARD_BLOCK)
        if rows:
            with _on_device_of(logits):
                backward_kernel[(rows, triton.cdiv(classes, block))](
                    grad_logits,
                    grad_logits.stride(0),
                    grad_losses,
                    grad_losses.stride(0),
                    logits,
                    logits.stride(0),
                    target,
                    peak,
                    log_sum,
                    classes,
                    ignore_index,
                    logit_scale,
                    softcap,
                    HAS_SCALE=bool(logit_scale != 1.0),
                    HAS_SOFTCAP=bool(softcap != 0.0),
                    BLOCK=block,
                    num_warps=_num_warps(block),
                )
        return grad_logits

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> None:
        raise RuntimeError(
            "the fused cross_entropy is differentiable once; for a second derivative use "
            "torch.nn.functional.cross_entropy(logits.float(), target)"
        )


def _block(classes: int, most: int) -> int:
    whole: int = triton.next_power_of_2(classes)
    return min(whole, most)


def _num_warps(block: int) -> int:
    # 16 at most: AMD's wavefronts are twice as wide, and 32 of them exceed a workgroup.
    return max(4, min(16, block // 512))


def _on_device_of(t: torch.Tensor) -> AbstractContextManager[Any]:
    # Triton launches on the current device, which need not be the one that holds the logits.
    return torch.cuda.device(t.device) if t.is_cuda else nullcontext()
