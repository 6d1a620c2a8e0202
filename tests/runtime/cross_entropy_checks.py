"""The loss held against float64, on whichever implementation the process runs.

That is the torch path on CPU, or the Triton kernels: on CUDA, or on CPU with TRITON_INTERPRET=1.
"""

from __future__ import annotations

import os

import torch
import torch.nn.functional as F

from precision_lint.runtime import cross_entropy

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if torch.cuda.is_available() and not INTERPRETED else "cpu"

# Classes per block in these tests, so that a few dozen classes are several blocks.
BLOCK = 16


def reference(
    logits,
    target,
    *,
    logit_scale=1.0,
    softcap=0.0,
    weight=None,
    z_loss=0.0,
    num_items=None,
    **kwargs,
):
    """float64, by torch; z-loss and num_items as `cross_entropy` defines them."""
    z = logits.double() * logit_scale
    if softcap:
        z = softcap * torch.tanh(z / softcap)
    reduction = kwargs.pop("reduction", "mean")
    weight = None if weight is None else weight.double()
    counted = target != kwargs.get("ignore_index", -100)
    squares = z.logsumexp(min(1, z.dim() - 1)).square()
    # Multiplied by zero, a NaN from 0 / 0 would reach the gradients of ignored positions.
    squares = torch.where(counted, z_loss * squares, 0.0)
    if reduction == "none":
        return F.cross_entropy(z, target, weight, reduction="none", **kwargs) + squares
    if reduction == "sum" or num_items is not None:
        total = F.cross_entropy(z, target, weight, reduction="sum", **kwargs) + squares.sum()
        return total if num_items is None else total / num_items
    loss = F.cross_entropy(z, target, weight, **kwargs)
    return loss + squares.sum() / counted.sum() if z_loss else loss


def leaf(logits, dtype):
    return logits.detach().to(dtype, copy=True).requires_grad_()


def make(*shape, dtype=torch.float32, seed=0, spread=3.0):
    """Random logits in ``dtype`` and labels; float64 copies of the logits are exact."""
    generator = torch.Generator().manual_seed(seed)
    logits = (torch.randn(shape, generator=generator) * spread).to(dtype)
    classes, rest = (shape[0], ()) if len(shape) == 1 else (shape[1], (shape[0], *shape[2:]))
    target = torch.randint(0, classes, rest, generator=generator)
    return logits.to(DEVICE), target.to(DEVICE)


def ulps_apart(a, b):
    """How many numbers of their half-precision dtype lie between two tensors, elementwise."""

    def order(t):
        bits = t.contiguous().view(torch.int16).int()
        return torch.where(bits < 0, -(bits & 0x7FFF), bits)

    return (order(a) - order(b)).abs()


def assert_gradient(grad, exact):
    """Within one ulp of the correctly rounded gradient; where p and its target cancel, 1e-7."""
    if grad.dtype == torch.float32:
        torch.testing.assert_close(grad.double(), exact, rtol=1e-5, atol=3e-7, equal_nan=True)
        return
    far = ulps_apart(grad, exact.to(grad.dtype)) > 1
    far &= ~((grad.double() - exact).abs() <= 1e-7) & ~(grad.isnan() & exact.isnan())
    assert not far.any(), (grad[far], exact[far])


def assert_matches(logits, target, upstream=None, **kwargs):
    """Loss and gradient agree with float64."""
    x, exact = leaf(logits, logits.dtype), leaf(logits, torch.float64)
    loss, expected = cross_entropy(x, target, **kwargs), reference(exact, target, **kwargs)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=1e-6, equal_nan=True)
    upstream = torch.ones_like(loss) if upstream is None else upstream
    loss.backward(upstream)
    expected.backward(upstream.double())
    assert x.grad.dtype == logits.dtype
    assert_gradient(x.grad, exact.grad)
    return x.grad
