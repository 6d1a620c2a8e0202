"""Cross entropy over a large vocabulary, one program per row, without a copy of the logits."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _forward(
    logits_ptr,
    logits_row_stride,
    loss_ptr,
    logsumexp_ptr,
    labels_ptr,
    n_classes,
    logit_scale,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_classes
    label = tl.load(labels_ptr + row).to(tl.int32)
    row_ptr = logits_ptr + row * logits_row_stride
    logits = tl.load(row_ptr + columns, mask=mask, other=-float("inf"))
    if logit_scale != 1.0:
        logits = logits.to(tl.float32) * logit_scale

    highest = tl.max(logits, 0)
    logsumexp = highest + tl.log(tl.sum(tl.exp((logits - highest).to(tl.float32)), 0))
    if label != -100:
        chosen = tl.load(row_ptr + label).to(tl.float32)
        loss = logsumexp - logit_scale * chosen
    else:
        loss = 0.0
    tl.store(logsumexp_ptr + row, logsumexp)
    tl.store(loss_ptr + row, loss)


@triton.jit
def _backward(
    logits_ptr,
    logits_row_stride,
    logsumexp_ptr,
    labels_ptr,
    grad_ptr,
    n_classes,
    logit_scale,
    n_labels,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = columns < n_classes
    label = tl.load(labels_ptr + row).to(tl.int32)
    logits = tl.load(logits_ptr + row * logits_row_stride + columns, mask=mask, other=0.0)
    logits = logits.to(tl.float32) * logit_scale
    softmax = tl.exp(logits - tl.load(logsumexp_ptr + row))
    grad = logit_scale * tl.where(columns == label, softmax - 1.0, softmax) / n_labels
    grad = tl.where(label == -100, 0.0, grad)
    tl.store(grad_ptr + row * logits_row_stride + columns, grad, mask=mask)


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels, logit_scale):
        logits = logits.contiguous()
        rows, n_classes = logits.shape
        losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
        logsumexp = torch.empty_like(losses)
        block = triton.next_power_of_2(n_classes)
        _forward[(rows,)](
            logits,
            logits.stride(0),
            losses,
            logsumexp,
            labels,
            n_classes,
            logit_scale,
            BLOCK_SIZE=block,
            num_warps=32 if block >= 32768 else 8,
        )
        n_labels = (labels != -100).sum().clamp(min=1)
        ctx.save_for_backward(logits, logsumexp, labels, n_labels)
        ctx.logit_scale = logit_scale
        return losses.sum() / n_labels

    @staticmethod
    def backward(ctx, grad_loss):
        logits, logsumexp, labels, n_labels = ctx.saved_tensors
        rows, n_classes = logits.shape
        grad = torch.empty_like(logits)
        _backward[(rows, triton.cdiv(n_classes, 4096))](
            logits,
            logits.stride(0),
            logsumexp,
            labels,
            grad,
            n_classes,
            ctx.logit_scale,
            n_labels.item(),
            BLOCK_SIZE=4096,
        )
        return grad * grad_loss, None, None


def cross_entropy(
    logits: torch.Tensor, labels: torch.Tensor, logit_scale: float = 1.0
) -> torch.Tensor:
    """The mean cross entropy of `logit_scale * logits`; the label -100 does not count."""
    return _CrossEntropy.apply(logits, labels, logit_scale)
