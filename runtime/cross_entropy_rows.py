"""Shared by the implementations of the row loss: options, results, and their layout.

The loss of rows of logits is computed in two steps, so that classes can be distributed over
programs of one device or over devices:

* **partials** describe a range of classes of each row; every part needs only its own logits;
* **combine** merges the partials of all ranges into losses and into the statistics that the
  gradient needs. The gradient of a range again needs only its own logits.

A range begins at ``first_class``; a single device has one range that begins at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

import torch


class Partial(IntEnum):
    """Second dimension of partials, shape (parts, len(Partial), rows).

    ``base`` is the peak, or 0 where the peak is -inf. A logit here is a transformed one, ``z``.
    A part that does not hold the label has the label logit -inf and the label weight 0.
    """

    PEAK = 0  # max(z)
    OTHERS = 1  # sum(exp(z - base)) without the label
    LABEL_LOGIT = 2
    LABEL_WEIGHT = 3
    SMOOTH_SUM = 4  # sum(weight * (z - base)) of the classes with z > -inf
    SMOOTH_MASS = 5  # sum(weight) of the same classes
    SMOOTH_COUNT = 6  # their number
    ARGMAX = 7  # of the whole vocabulary; exact in float32 up to 2^24 classes


class Statistic(IntEnum):
    """First dimension of statistics, shape (len(Statistic), rows): what the gradient needs."""

    BASE = 0
    LOG_TOTAL = 1  # log(sum(exp(z - base))); p = exp(z - BASE - LOG_TOTAL)
    MISS = 2  # 1 - p[label], not from p: at p = 1 - 1e-7 the difference is all rounding
    LABEL_WEIGHT = 3
    SMOOTH_SCALE = 4  # label_smoothing / SMOOTH_COUNT
    SMOOTH_MASS = 5  # SMOOTH_SCALE * sum(weight)


@dataclass(frozen=True)
class RowOptions:
    """The loss of a row with label ``y`` over ``z = softcap * tanh(logit_scale * x / softcap)``.

    ``weight[y] * (1 - label_smoothing) * (lse - z[y])
    + label_smoothing / C * sum(weight * (lse - z))``, where the sum and ``C`` count the classes
    with ``z > -inf``.
    """

    ignore_index: int = -100
    logit_scale: float = 1.0
    softcap: float = 0.0
    label_smoothing: float = 0.0


class RowLosses(NamedTuple):
    """Results per row, in the accumulation dtype; 0 where ignored."""

    losses: torch.Tensor  # (rows,)
    lse: torch.Tensor  # (rows,), log(sum(exp(z)))
    argmax: torch.Tensor  # (rows,) int64, -1 where ignored or NaN; (0,) if not requested
    statistics: torch.Tensor  # (len(Statistic), rows)


class RowImplementation(Protocol):
    """The interface of the modules ``cross_entropy_torch`` and ``cross_entropy_triton``.

    Shapes: logits (rows, classes), target (rows,) int64 in the numbering of the whole vocabulary,
    weight (classes,) in the accumulation dtype, contiguous, or None.
    """

    def row_losses(
        self,
        logits: torch.Tensor,
        target: torch.Tensor,
        weight: torch.Tensor | None,
        options: RowOptions,
        *,
        argmax: bool,
    ) -> RowLosses:
        """Partials and combine in one."""

    def row_partials(
        self,
        logits: torch.Tensor,
        target: torch.Tensor,
        weight: torch.Tensor | None,
        options: RowOptions,
        *,
        argmax: bool,
        first_class: int,
        one_part: bool = False,
    ) -> torch.Tensor:
        """(parts, len(Partial), rows) of the classes that ``logits`` and ``weight`` hold.

        Args:
            one_part: whether to return a single part instead of as many as suit the device.
        """

    def combine(
        self,
        partials: torch.Tensor,
        target: torch.Tensor,
        options: RowOptions,
        *,
        argmax: bool,
        classes: int,
    ) -> RowLosses:
        """Merges the parts of a vocabulary of ``classes``; parts come in ascending order."""

    def row_gradient(
        self,
        out: torch.Tensor,
        grad_losses: torch.Tensor | None,
        grad_lse: torch.Tensor | None,
        logits: torch.Tensor,
        target: torch.Tensor,
        weight: torch.Tensor | None,
        statistics: torch.Tensor,
        options: RowOptions,
        *,
        first_class: int,
        classes: int,
    ) -> None:
        """Writes the gradient of the logits to ``out``, which may be the logits themselves."""


def accumulation_dtype(dtype: torch.dtype) -> torch.dtype:
    """float64 for float64 logits, float32 for all others."""
    return torch.promote_types(dtype, torch.float32)
