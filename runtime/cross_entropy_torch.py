"""The row loss in torch operators, for CPUs and for GPUs without Triton.

Works on a few rows at a time, in buffers of the accumulation dtype that are reused in place: the
logits are never copied as a whole. The interface is ``RowImplementation``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from precision_lint.runtime.cross_entropy_rows import (
    Partial,
    RowLosses,
    RowOptions,
    Statistic,
    accumulation_dtype,
)

# Elements per chunk. A CPU's buffer stays in its cache; elsewhere a chunk must outweigh the
# launches it takes.
CPU_CHUNK = 2**19
DEVICE_CHUNK = 2**26


def row_losses(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    options: RowOptions,
    *,
    argmax: bool,
) -> RowLosses:
    """Partials and combine in one."""
    if logits.device.type == "cpu":
        check_labels(target, logits.shape[1], options.ignore_index)  # needs no synchronization
    partials = row_partials(logits, target, weight, options, argmax=argmax, first_class=0)
    return combine(partials, target, options, argmax=argmax, classes=logits.shape[1])


def check_labels(target: torch.Tensor, classes: int, ignore_index: int) -> None:
    """Checks labels in ``target``, a (rows,) tensor; synchronizes with its device.

    Raises:
        IndexError: a label that is neither in [0, classes) nor ``ignore_index``.
    """
    wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
    if wrong.any():
        position = int(wrong.nonzero()[0])
        raise IndexError(
            f"label {int(target[position])} of position {position} (of the flattened target) is "
            f"out of bounds for {classes} classes"
        )


def row_partials(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    options: RowOptions,
    *,
    argmax: bool,
    first_class: int,
    one_part: bool = False,
) -> torch.Tensor:
    """(1, len(Partial), rows) of the classes that ``logits`` and ``weight`` hold."""
    dtype = accumulation_dtype(logits.dtype)
    rows, classes = logits.shape
    partials = torch.zeros(len(Partial), rows, dtype=dtype, device=logits.device)
    local = target - first_class
    here = (local >= 0) & (local < classes)
    local = torch.where(here, local, 0)
    for chunk in _chunks(logits):
        part, index, found = partials[:, chunk], local[chunk].unsqueeze(1), here[chunk]
        z = _transformed(logits[chunk], options)
        peak = part[Partial.PEAK]
        torch.amax(z, 1, out=peak)
        if argmax:
            part[Partial.ARGMAX] = z.argmax(1) + first_class
        label_logit = z.gather(1, index).squeeze(1)
        part[Partial.LABEL_LOGIT] = torch.where(found, label_logit, -math.inf)
        label_weight = 1.0 if weight is None else weight[index.squeeze(1)]
        part[Partial.LABEL_WEIGHT] = torch.where(found, label_weight, 0.0)
        z -= _base(peak).unsqueeze(1)
        if options.label_smoothing:
            kept = z > -math.inf
            terms = torch.where(kept, z, 0.0)
            part[Partial.SMOOTH_COUNT] = kept.sum(1)
            if weight is None:
                part[Partial.SMOOTH_MASS] = part[Partial.SMOOTH_COUNT]
            else:
                terms *= weight
                part[Partial.SMOOTH_MASS] = (kept * weight).sum(1)
            part[Partial.SMOOTH_SUM] = terms.sum(1)
        z.exp_()
        z.scatter_(1, index, z.gather(1, index).masked_fill_(found.unsqueeze(1), 0.0))
        torch.sum(z, 1, out=part[Partial.OTHERS])
    return partials.unsqueeze(0)


def combine(
    partials: torch.Tensor,
    target: torch.Tensor,
    options: RowOptions,
    *,
    argmax: bool,
    classes: int,
) -> RowLosses:
    """Merges the parts of a vocabulary of ``classes``; parts come in ascending order."""
    parts = partials.unbind(1)
    peak, winner = parts[Partial.PEAK].max(0)
    base = _base(peak)
    others = (parts[Partial.OTHERS] * torch.exp(parts[Partial.PEAK] - base)).sum(0)
    away = parts[Partial.LABEL_LOGIT].amax(0) - base
    total = others + torch.exp(away)
    # A label at the peak leaves 1 + others: rounding the sum would lose a small loss.
    log_total = torch.where(away == 0, torch.log1p(others), torch.log(total))

    label_weight = parts[Partial.LABEL_WEIGHT].sum(0)
    losses = label_weight * (1.0 - options.label_smoothing) * (log_total - away)
    smooth_scale = smooth_mass = torch.zeros_like(base)
    if options.label_smoothing:
        mass = parts[Partial.SMOOTH_MASS]
        moved = parts[Partial.SMOOTH_SUM] + (_base(parts[Partial.PEAK]) - base) * mass
        smooth_scale = options.label_smoothing / parts[Partial.SMOOTH_COUNT].sum(0)
        smooth_mass = smooth_scale * mass.sum(0)
        losses += smooth_mass * log_total - smooth_scale * moved.sum(0)

    known = (target >= 0) & (target < classes)
    ignored = target == options.ignore_index
    losses = torch.where(known, losses, math.nan)
    statistics = torch.stack(
        [base, log_total, others / total, label_weight, smooth_scale, smooth_mass]
    )
    best = torch.empty(0, dtype=torch.int64, device=partials.device)
    if argmax:
        best = parts[Partial.ARGMAX].gather(0, winner.unsqueeze(0)).squeeze(0).long()
        best = torch.where(ignored | total.isnan(), -1, best)
    return RowLosses(
        losses.masked_fill_(ignored, 0.0),
        (base + log_total).masked_fill_(ignored, 0.0),
        best,
        statistics.masked_fill_(ignored, 0.0),
    )


def row_gradient(
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
    rows, held = logits.shape
    zero = statistics.new_zeros(()).expand(rows)
    grad_losses = zero if grad_losses is None else grad_losses
    grad_lse = zero if grad_lse is None else grad_lse
    known = (target >= 0) & (target < classes)
    grad_losses = torch.where(known, grad_losses, math.nan)
    at_label = grad_losses * statistics[Statistic.LABEL_WEIGHT] * (1.0 - options.label_smoothing)
    elsewhere = grad_losses * statistics[Statistic.SMOOTH_MASS] + grad_lse
    smooth = grad_losses * statistics[Statistic.SMOOTH_SCALE]
    ignored = target == options.ignore_index
    local = target - first_class
    here = (local >= 0) & (local < held)
    local = torch.where(here, local, 0)
    for chunk in _chunks(logits):
        base, log_total, miss, *_ = statistics[:, chunk].unsqueeze(-1)
        b, a, c = (row[chunk].unsqueeze(1) for row in (at_label, elsewhere, smooth))
        x = logits[chunk]
        p = _transformed(x, options)
        masked = p == -math.inf if options.label_smoothing else None
        p.sub_(base).sub_(log_total).exp_()
        index, found = local[chunk].unsqueeze(1), here[chunk].unsqueeze(1)
        p_label = p.gather(1, index)
        # b * (p - [label]) + a * p, with p - 1 at the label from what the forward pass measured.
        label_grad = torch.where(found, a * p_label - b * miss, (a + b) * p_label)
        dz = p.mul_(a + b).scatter_(1, index, label_grad)
        if masked is not None:
            uniform = c if weight is None else c * weight
            dz -= torch.where(masked, 0.0, uniform)
        dx = _times_derivative(dz, x, options)
        out[chunk] = dx.masked_fill_(ignored[chunk].unsqueeze(1), 0.0)


def _chunks(logits: torch.Tensor) -> Iterator[slice]:
    rows, classes = logits.shape
    size = CPU_CHUNK if logits.device.type == "cpu" else DEVICE_CHUNK
    step = max(1, size // classes)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _base(peak: torch.Tensor) -> torch.Tensor:
    # While all logits are -inf, subtracting the peak would be -inf - -inf = NaN.
    return torch.where(peak == -math.inf, 0.0, peak)


def _transformed(x: torch.Tensor, options: RowOptions) -> torch.Tensor:
    """A new tensor: ``softcap * tanh(logit_scale * x / softcap)``, each part if asked for."""
    z = x.to(accumulation_dtype(x.dtype), copy=True)
    if options.logit_scale != 1.0:
        z *= options.logit_scale
    if options.softcap:
        z.div_(options.softcap).tanh_().mul_(options.softcap)
    return z


def _times_derivative(dz: torch.Tensor, x: torch.Tensor, options: RowOptions) -> torch.Tensor:
    """``dz`` times the derivative of ``_transformed`` at ``x``, in the buffer of ``dz``."""
    if options.softcap:
        # sech^2 as 4e / (1 + e)^2: 1 - tanh^2 cancels near saturation.
        e = x.to(dz.dtype, copy=True).mul_(options.logit_scale / options.softcap)
        e.abs_().mul_(-2.0).exp_()
        dz.mul_(e).mul_(4.0)
        dz.div_(e.add_(1.0).square_())
    if options.logit_scale != 1.0:
        dz *= options.logit_scale
    return dz
