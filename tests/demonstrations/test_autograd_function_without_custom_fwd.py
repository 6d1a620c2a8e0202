"""A custom product under autocast, with and without the decorators."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        x, w = ctx.saved_tensors
        return grad @ w.t(), x.t() @ grad


class Decorated(torch.autograd.Function):
    forward = staticmethod(torch.amp.custom_fwd(Product.forward, device_type="cpu"))
    backward = staticmethod(torch.amp.custom_bwd(Product.backward, device_type="cpu"))


def test_the_backward_raises_without_them() -> None:
    x, w = (torch.ones(4, 4, requires_grad=True) for _ in range(2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = Product.apply(x, w)
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        out.sum().backward()


def test_the_backward_runs_with_them() -> None:
    x, w = (torch.ones(4, 4, requires_grad=True) for _ in range(2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = Decorated.apply(x, w)
    out.sum().backward()
    assert out.dtype == torch.bfloat16
    assert x.grad is not None
    assert x.grad.dtype == torch.float32
