"""From the losses of rows to the requested results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from precision_lint.runtime.cross_entropy_rows import RowLosses, Statistic

_KINDS = ("mean", "sum", "none")


class CrossEntropyOutput(NamedTuple):
    """The results of a loss with any ``return_*``; None for results that were not requested.

    All in float32 (float64 for float64 logits) but ``argmax``, in int64. Ignored positions have
    the lse 0 and the argmax -1. ``loss``, ``lse`` and ``z_loss`` are differentiable.
    """

    loss: torch.Tensor  # reduced, z-loss included
    lse: torch.Tensor | None = None  # log-sum-exp; shape of the target
    z_loss: torch.Tensor | None = None  # the z-loss term of the loss, with the same reduction
    accuracy: torch.Tensor | None = None  # share of positions whose argmax is the label, reduced
    argmax: torch.Tensor | None = None  # class with the largest logit; shape of the target


@dataclass(frozen=True)
class Reduction:
    """How row losses are reduced, and which results are returned.

    Raises:
        ValueError: an unknown kind; ``num_items`` of several elements, or with another kind than
            "mean".
    """

    kind: str
    num_items: int | float | torch.Tensor | None
    z_loss: float
    return_lse: bool
    return_z_loss: bool
    return_accuracy: bool
    return_argmax: bool

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"reduction is one of {', '.join(_KINDS)}, not {self.kind!r}")
        if self.num_items is None:
            return
        if self.kind != "mean":
            raise ValueError(f"num_items is what 'mean' divides by; reduction is {self.kind!r}")
        if isinstance(self.num_items, torch.Tensor) and self.num_items.numel() != 1:
            raise ValueError(f"num_items has one element, not shape {tuple(self.num_items.shape)}")

    @property
    def needs_argmax(self) -> bool:
        return self.return_argmax or self.return_accuracy

    def of(
        self,
        rows: RowLosses,
        target: torch.Tensor,
        *,
        ignore_index: int,
        weighted: bool,
    ) -> torch.Tensor | CrossEntropyOutput:
        """The loss of rows whose labels, in the same order, are those of ``target``.

        Args:
            weighted: whether classes have weights; "mean" then divides by those of the labels.
        """
        losses, lse, argmax, statistics = rows
        by_weight = by_count = None
        if self.kind == "mean":
            by_weight = by_count = self._divisor(target, ignore_index)
            if weighted and self.num_items is None:
                by_weight = statistics[Statistic.LABEL_WEIGHT].sum()

        def reduced(values: torch.Tensor, divisor: torch.Tensor | float | None) -> torch.Tensor:
            if divisor is not None:
                return values.sum() / divisor
            return values.sum() if self.kind == "sum" else values.view(target.shape)

        loss = reduced(losses, by_weight)
        z_losses = None
        if self.z_loss or self.return_z_loss:
            # Class weights do not apply: the mean is over the positions that count.
            z_losses = reduced(self.z_loss * lse.square(), by_count)
            loss = loss + z_losses
        if not (self.return_lse or self.return_z_loss or self.needs_argmax):
            return loss
        accuracy = None
        if self.return_accuracy:
            # Both are -1 where a position is ignored by the label -1.
            hits = (argmax == target.reshape(-1)) & (argmax >= 0)
            accuracy = reduced(hits.to(lse.dtype), by_count)
        return CrossEntropyOutput(
            loss=loss,
            lse=lse.view(target.shape) if self.return_lse else None,
            z_loss=z_losses if self.return_z_loss else None,
            accuracy=accuracy,
            argmax=argmax.view(target.shape) if self.return_argmax else None,
        )

    def _divisor(self, target: torch.Tensor, ignore_index: int) -> torch.Tensor | float:
        """``num_items``, or the number of positions that count."""
        items = self.num_items
        if items is None:
            return (target != ignore_index).sum()
        if not isinstance(items, torch.Tensor):
            return items
        items = items.reshape(())
        # A CPU scalar serves every device; one of another GPU does not.
        if items.device.type == "cpu":
            return items
        return items.to(target.device, non_blocking=True)
