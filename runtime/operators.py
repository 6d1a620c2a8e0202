"""Registration of operators with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad


def register(name: str, schema: str, kernel: Callable[..., Any], fake: Callable[..., Any]) -> None:
    """Defines an operator with one kernel for every device, and the shapes of its results."""
    # Not `torch.library.custom_op`, whose first call imports torch._dynamo: seconds for everyone.
    torch.library.define(name, schema, tags=(torch.Tag.pt2_compliant_tag,))
    torch.library.impl(name, "default", kernel)
    torch.library.register_fake(name, fake)


def refuse_transforms(name: str, instead: str, *inputs: torch.Tensor | None) -> None:
    """Rejects kinds of differentiation that an operator of torch.library does not support.

    Args:
        name: the public function.
        instead: what the caller can use.

    Raises:
        RuntimeError: an input has a tangent of forward mode, for which an operator without such a
            rule silently returns zeros (torch 2.13), or is differentiated by ``torch.func.grad``
            and the like, where torch names an ``autograd.Function`` that does not exist.
    """
    given = [t for t in inputs if t is not None]
    if any(forward_ad.unpack_dual(t).tangent is not None for t in given):  # type: ignore[no-untyped-call]
        raise RuntimeError(
            f"precision_lint's {name} has no forward-mode derivative (torch.func.jvp, jacfwd); "
            f"use {instead}"
        )
    # Dynamo traces neither this check nor such a transform around an operator.
    if torch.compiler.is_compiling():
        return
    if any(torch._C._functorch.is_gradtrackingtensor(t) for t in given):
        raise RuntimeError(
            f"precision_lint's {name} does not run under torch.func.grad, vjp or jacrev; use "
            f"{instead}, or loss.backward()"
        )
