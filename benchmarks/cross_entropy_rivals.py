"""The losses that are compared: each by its public call, imported when it is first asked for.

All take the mean over labels of which none is ignored. Calls are those of Liger-Kernel 0.8.2,
flash-attn, unsloth and quack as of August 2026. unsloth changes torch.compile when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import torch
import torch.nn.functional as F

Loss = Callable[..., torch.Tensor]
"""The mean loss of (logits, target), or of (hidden, weight, target)."""


@dataclass(frozen=True)
class Rival:
    """A loss: `load` imports it and raises what the import raises.

    `package` is its distribution; `overwrites` is the pass, if any, in which it writes the gradient
    to the memory of the logits.
    """

    name: str
    load: Callable[[], Loss]
    package: str
    overwrites: str = ""

    def version(self) -> str | None:
        """None if it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def _ours(inplace: bool) -> Loss:
    from precision_lint.runtime import cross_entropy

    return lambda logits, target: cross_entropy(logits, target, inplace=inplace)


def _torch(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits, target)


def _torch_float(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.float(), target)


def _compiled(loss: Loss) -> Loss:
    # Its shapes are compiled in, as in training with batches of one size.
    return torch.compile(loss, dynamic=False)


def _liger() -> Loss:
    from liger_kernel.transformers import LigerCrossEntropyLoss

    return LigerCrossEntropyLoss()


def _flash_attn(inplace: bool) -> Loss:
    from flash_attn.losses.cross_entropy import CrossEntropyLoss

    return CrossEntropyLoss(inplace_backward=inplace)


def _unsloth() -> Loss:
    from unsloth.kernels import fast_cross_entropy_loss

    def loss(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        # Told the count of labels, it does not count them.
        batch, labels = logits.unsqueeze(0), target.unsqueeze(0)
        return fast_cross_entropy_loss(batch, labels, n_items=target.numel())

    return loss


def _quack(inplace: bool) -> Loss:
    from quack.cross_entropy import cross_entropy

    return lambda logits, target: cross_entropy(logits, target, inplace_backward=inplace)


RIVALS = (
    Rival("precision-lint", lambda: _ours(False), "precision-lint"),
    Rival("precision-lint-inplace", lambda: _ours(True), "precision-lint", "backward"),
    Rival("torch", lambda: _torch, "torch"),
    Rival("torch-float", lambda: _torch_float, "torch"),
    Rival("compile", lambda: _compiled(_torch), "torch"),
    Rival("compile-float", lambda: _compiled(_torch_float), "torch"),
    Rival("liger", _liger, "liger_kernel", "forward"),
    Rival("flash-attn", lambda: _flash_attn(False), "flash_attn"),
    Rival("flash-attn-inplace", lambda: _flash_attn(True), "flash_attn", "backward"),
    Rival("quack", lambda: _quack(False), "quack-kernels"),
    Rival("quack-inplace", lambda: _quack(True), "quack-kernels", "backward"),
    Rival("unsloth", _unsloth, "unsloth", "backward"),
)


def _our_linear() -> Loss:
    from precision_lint.runtime import linear_cross_entropy

    return linear_cross_entropy


def _linear(hidden: torch.Tensor, weight: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(F.linear(hidden, weight), target)


def _linear_float(hidden: torch.Tensor, weight: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(F.linear(hidden, weight).float(), target)


def _torch_linear() -> Loss:
    # torch 2.13. Without options it computes the logits whole.
    from torch.nn import LinearCrossEntropyOptions

    options = LinearCrossEntropyOptions()
    return lambda hidden, weight, target: F.linear_cross_entropy(
        hidden, weight, target, options=options
    )


def _liger_linear() -> Loss:
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    loss = LigerFusedLinearCrossEntropyLoss()
    return lambda hidden, weight, target: loss(weight, hidden, target)


LINEAR_RIVALS = (
    Rival("precision-lint", _our_linear, "precision-lint"),
    Rival("torch", lambda: _linear, "torch"),
    Rival("torch-float", lambda: _linear_float, "torch"),
    Rival("torch-chunked", _torch_linear, "torch"),
    Rival("liger", _liger_linear, "liger_kernel"),
)
