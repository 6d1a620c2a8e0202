"""Triton kernels of the cross-entropy loss over rows of logits.

They keep to rules that each prevent a known failure:

* logits become float32 at the load; every name keeps one dtype in all branches and loops. A
  run-time ``if`` that rescales a bfloat16 block does not compile ("initial value for `logits` is
  of type bf16 ... but the then block redefines it");
* every flag is ``tl.constexpr``, so that an ``if`` on it is resolved at compile time;
* every float argument is pinned by ``tl.cast(.., tl.float32)``: ``torch.compile`` passes Python
  floats as float64 (torch 2.13);
* row offsets are int64: rows x classes passes 2^31 at 16k tokens and a 128k vocabulary.

``cross_entropy_rows`` says what partials and statistics hold.
"""

# Triton has no types: neither its decorator nor what it decorates can be checked.
# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
# mypy: disallow-incomplete-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import triton
import triton.language as tl

from precision_lint.runtime.cross_entropy_rows import Partial, Statistic

_PEAK = tl.constexpr(int(Partial.PEAK))
_OTHERS = tl.constexpr(int(Partial.OTHERS))
_PART_LABEL_LOGIT = tl.constexpr(int(Partial.LABEL_LOGIT))
_PART_LABEL_WEIGHT = tl.constexpr(int(Partial.LABEL_WEIGHT))
_PART_SMOOTH_SUM = tl.constexpr(int(Partial.SMOOTH_SUM))
_PART_SMOOTH_MASS = tl.constexpr(int(Partial.SMOOTH_MASS))
_PART_SMOOTH_COUNT = tl.constexpr(int(Partial.SMOOTH_COUNT))
_PART_ARGMAX = tl.constexpr(int(Partial.ARGMAX))
_PARTIALS = tl.constexpr(len(Partial))

_BASE = tl.constexpr(int(Statistic.BASE))
_LOG_TOTAL = tl.constexpr(int(Statistic.LOG_TOTAL))
_MISS = tl.constexpr(int(Statistic.MISS))
_LABEL_WEIGHT = tl.constexpr(int(Statistic.LABEL_WEIGHT))
_SMOOTH_SCALE = tl.constexpr(int(Statistic.SMOOTH_SCALE))
_SMOOTH_MASS = tl.constexpr(int(Statistic.SMOOTH_MASS))

# Values that change from batch to batch and gain nothing from being compiled in.
_VARYING = ("n_rows", "ignore_index", "first_class", "part_blocks", "n_parts")


@triton.jit
def _tanh(u):
    # The exponential form cancels near zero; the Taylor series has a relative error of 1e-8
    # below 1/4. (libdevice's tanh is not available to the interpreter.)
    e = tl.exp(-2.0 * tl.abs(u))
    t = (1.0 - e) / (1.0 + e)
    u2 = u * u
    series = u * (1.0 + u2 * (-1.0 / 3 + u2 * (2.0 / 15 + u2 * (-17.0 / 315 + u2 * (62.0 / 2835)))))
    return tl.where(tl.abs(u) < 0.25, series, tl.where(u < 0.0, -t, t))


@triton.jit
def _log1p(x):
    # 2 artanh(x / (2 + x)) below 1/2, where log(1 + x) has lost the low bits of x.
    s = x / (2.0 + x)
    s2 = s * s
    tail = s2 * (1.0 / 3 + s2 * (1.0 / 5 + s2 * (1.0 / 7 + s2 * (1.0 / 9 + s2 * (1.0 / 11)))))
    return tl.where(x < 0.5, 2.0 * s * (1.0 + tail), tl.log(1.0 + x))


@triton.jit
def _base_of(peak):
    # While all logits are -inf, subtracting the peak would be -inf - -inf = NaN.
    return tl.where(peak == float("-inf"), 0.0, peak)


@triton.jit
def _scaled_and_capped(x, scale, cap, HAS_SCALE: tl.constexpr, HAS_SOFTCAP: tl.constexpr):
    """``cap * tanh(scale * x / cap)``, each part only when asked for."""
    z = x
    if HAS_SCALE:
        z = z * scale
    if HAS_SOFTCAP:
        z = cap * _tanh(z / cap)
    return z


@triton.jit
def _chain(dz, x, scale, cap, HAS_SCALE: tl.constexpr, HAS_SOFTCAP: tl.constexpr):
    """The gradient at ``x`` from the gradient ``dz`` at ``_scaled_and_capped(x)``."""
    dx = dz
    if HAS_SOFTCAP:
        z = x
        if HAS_SCALE:
            z = z * scale
        # sech^2 as 4e / (1 + e)^2: 1 - tanh^2 cancels near saturation.
        e = tl.exp(-2.0 * tl.abs(z / cap))
        dx = dx * (4.0 * e / ((1.0 + e) * (1.0 + e)))
    if HAS_SCALE:
        dx = dx * scale
    return dx


@triton.jit
def _label_here(label, first_class, n_classes):
    """Index of the label among the classes held, -1 if it is not among them."""
    local = label - first_class
    return tl.where((local >= 0) & (local < n_classes), local, -1).to(tl.int32)


@triton.jit
def _scan(
    row_ptr,
    weight_ptr,
    first,
    last,
    label_here,
    scale,
    cap,
    HAS_SCALE: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    HAS_SMOOTHING: tl.constexpr,
    HAS_ARGMAX: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Partials of the classes [first, last) of a row, by an online sum over blocks.

    The next block is requested before the current one is reduced, so that memory is never idle
    while a program waits for its own warps.
    """
    peak = tl.cast(float("-inf"), tl.float32)
    others = tl.cast(0.0, tl.float32)
    smooth_sum = tl.cast(0.0, tl.float32)
    smooth_mass = tl.cast(0.0, tl.float32)
    smooth_count = tl.cast(0.0, tl.float32)
    best = tl.cast(first, tl.int32)
    lanes = tl.arange(0, BLOCK)
    coming = tl.load(row_ptr + first + lanes, mask=first + lanes < last, other=0.0)
    for start in range(first, last, BLOCK):
        offs = start + lanes
        inside = offs < last
        x = coming.to(tl.float32)
        coming = tl.load(row_ptr + BLOCK + offs, mask=BLOCK + offs < last, other=0.0)
        z = _scaled_and_capped(x, scale, cap, HAS_SCALE, HAS_SOFTCAP)
        # Masked after the transform: a softcap turns -inf into a finite -cap.
        z = tl.where(inside, z, float("-inf"))
        block_peak = tl.max(z, 0)
        new_peak = tl.maximum(peak, block_peak)
        if HAS_ARGMAX:
            first_best = tl.min(tl.where(z == block_peak, offs, 2147483647), 0)
            best = tl.where(block_peak > peak, first_best, best)
        base = _base_of(new_peak)
        if HAS_SMOOTHING:
            kept = z > float("-inf")
            smooth_sum += (_base_of(peak) - base) * smooth_mass
            smooth_count += tl.sum(tl.where(kept, 1.0, 0.0), 0)
            if HAS_WEIGHT:
                weight = tl.load(weight_ptr + offs, mask=kept, other=0.0)
                smooth_mass += tl.sum(weight, 0)
                smooth_sum += tl.sum(tl.where(kept, weight * (z - base), 0.0), 0)
            else:
                smooth_mass = smooth_count
                smooth_sum += tl.sum(tl.where(kept, z - base, 0.0), 0)
        e = tl.where(offs == label_here, 0.0, tl.exp(z - base))
        others = others * tl.exp(peak - base) + tl.sum(e, 0)
        peak = new_peak
    return peak, others, smooth_sum, smooth_mass, smooth_count, best


@triton.jit
def _label_of(
    row_ptr,
    weight_ptr,
    label_here,
    scale,
    cap,
    HAS_SCALE: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
):
    """Logit and weight of the label; -inf and 0 if it is not among the classes held."""
    here = label_here >= 0
    x = tl.load(row_ptr + label_here, mask=here, other=0.0).to(tl.float32)
    z = tl.where(here, _scaled_and_capped(x, scale, cap, HAS_SCALE, HAS_SOFTCAP), float("-inf"))
    weight = tl.where(here, 1.0, 0.0)
    if HAS_WEIGHT:
        weight = tl.load(weight_ptr + label_here, mask=here, other=0.0)
    return z, weight


@triton.jit
def _finish(
    row,
    losses_ptr,
    lse_ptr,
    argmax_ptr,
    statistics_ptr,
    n_rows,
    known,
    peak,
    others,
    z_label,
    label_weight,
    smooth_sum,
    smooth_mass,
    smooth_count,
    best,
    label_smoothing,
    HAS_SMOOTHING: tl.constexpr,
    HAS_ARGMAX: tl.constexpr,
):
    """Results of a row from the merged partials of all its classes."""
    base = _base_of(peak)
    away = z_label - base
    total = others + tl.exp(away)
    # A label at the peak leaves 1 + others: rounding the sum would lose a small loss.
    log_total = tl.where(away == 0.0, _log1p(others), tl.log(total))
    loss = label_weight * (log_total - away)
    scale = tl.cast(0.0, tl.float32)
    mass = tl.cast(0.0, tl.float32)
    if HAS_SMOOTHING:
        smoothing = tl.cast(label_smoothing, tl.float32)
        scale = smoothing / smooth_count
        mass = scale * smooth_mass
        loss = (1.0 - smoothing) * loss + (mass * log_total - scale * smooth_sum)
    # A label outside the vocabulary makes the loss NaN: loud, without a host synchronisation.
    tl.store(losses_ptr + row, tl.where(known, loss, float("nan")))
    tl.store(lse_ptr + row, base + log_total)
    if HAS_ARGMAX:
        tl.store(argmax_ptr + row, tl.where(total == total, best, -1).to(tl.int64))
    _store_statistics(
        statistics_ptr + row, n_rows, base, log_total, others / total, label_weight, scale, mass
    )


@triton.jit
def _finish_ignored(
    row, losses_ptr, lse_ptr, argmax_ptr, statistics_ptr, n_rows, HAS_ARGMAX: tl.constexpr
):
    # Stored zeros, since 0 * loss would pass on the NaN of a padded position.
    tl.store(losses_ptr + row, 0.0)
    tl.store(lse_ptr + row, 0.0)
    if HAS_ARGMAX:
        tl.store(argmax_ptr + row, -1)
    _store_statistics(statistics_ptr + row, n_rows, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@triton.jit
def _store_statistics(ptr, n_rows, base, log_total, miss, label_weight, smooth_scale, smooth_mass):
    n = tl.cast(n_rows, tl.int64)
    tl.store(ptr + _BASE * n, base)
    tl.store(ptr + _LOG_TOTAL * n, log_total)
    tl.store(ptr + _MISS * n, miss)
    tl.store(ptr + _LABEL_WEIGHT * n, label_weight)
    tl.store(ptr + _SMOOTH_SCALE * n, smooth_scale)
    tl.store(ptr + _SMOOTH_MASS * n, smooth_mass)


@triton.jit(do_not_specialize=_VARYING)
def forward_kernel(
    logits_ptr,
    logits_row_stride,
    target_ptr,
    weight_ptr,
    losses_ptr,
    lse_ptr,
    argmax_ptr,
    statistics_ptr,
    n_rows,
    n_classes,
    ignore_index,
    logit_scale,
    softcap,
    label_smoothing,
    HAS_SCALE: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    HAS_SMOOTHING: tl.constexpr,
    HAS_ARGMAX: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Loss of one row whose classes are all here. Grid: (rows,)."""
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(target_ptr + row)
    if label == ignore_index:
        _finish_ignored(row, losses_ptr, lse_ptr, argmax_ptr, statistics_ptr, n_rows, HAS_ARGMAX)
        return
    scale = tl.cast(logit_scale, tl.float32)
    cap = tl.cast(softcap, tl.float32)
    row_ptr = logits_ptr + row * logits_row_stride
    label_here = _label_here(label, 0, n_classes)
    peak, others, smooth_sum, smooth_mass, smooth_count, best = _scan(
        row_ptr,
        weight_ptr,
        0,
        n_classes,
        label_here,
        scale,
        cap,
        HAS_SCALE,
        HAS_SOFTCAP,
        HAS_WEIGHT,
        HAS_SMOOTHING,
        HAS_ARGMAX,
        BLOCK,
    )
    z_label, label_weight = _label_of(
        row_ptr, weight_ptr, label_here, scale, cap, HAS_SCALE, HAS_SOFTCAP, HAS_WEIGHT
    )
    _finish(
        row,
        losses_ptr,
        lse_ptr,
        argmax_ptr,
        statistics_ptr,
        n_rows,
        label_here >= 0,
        peak,
        others,
        z_label,
        label_weight,
        smooth_sum,
        smooth_mass,
        smooth_count,
        best,
        label_smoothing,
        HAS_SMOOTHING,
        HAS_ARGMAX,
    )


@triton.jit(do_not_specialize=_VARYING)
def partials_kernel(
    logits_ptr,
    logits_row_stride,
    target_ptr,
    weight_ptr,
    partials_ptr,
    n_rows,
    n_classes,
    first_class,
    part_blocks,
    ignore_index,
    logit_scale,
    softcap,
    HAS_SCALE: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    HAS_SMOOTHING: tl.constexpr,
    HAS_ARGMAX: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Partials of ``part_blocks`` blocks of one row. Grid: (rows, parts).

    The classes held are [first_class, first_class + n_classes) of the vocabulary. Nothing is
    stored for an ignored row: ``combine_kernel`` does not read it.
    """
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    label = tl.load(target_ptr + row)
    if label == ignore_index:
        return
    scale = tl.cast(logit_scale, tl.float32)
    cap = tl.cast(softcap, tl.float32)
    row_ptr = logits_ptr + row * logits_row_stride
    # Blocks, not classes, so that the compiler sees a multiple of BLOCK and loads 16 bytes at once.
    first = part * part_blocks * BLOCK
    last = tl.minimum(first + part_blocks * BLOCK, n_classes)
    label_here = _label_here(label, first_class, n_classes)
    label_here = tl.where((label_here >= first) & (label_here < last), label_here, -1)
    peak, others, smooth_sum, smooth_mass, smooth_count, best = _scan(
        row_ptr,
        weight_ptr,
        first,
        last,
        label_here,
        scale,
        cap,
        HAS_SCALE,
        HAS_SOFTCAP,
        HAS_WEIGHT,
        HAS_SMOOTHING,
        HAS_ARGMAX,
        BLOCK,
    )
    z_label, label_weight = _label_of(
        row_ptr, weight_ptr, label_here, scale, cap, HAS_SCALE, HAS_SOFTCAP, HAS_WEIGHT
    )
    n = tl.cast(n_rows, tl.int64)
    ptr = partials_ptr + part * _PARTIALS * n + row
    tl.store(ptr + _PEAK * n, peak)
    tl.store(ptr + _OTHERS * n, others)
    tl.store(ptr + _PART_LABEL_LOGIT * n, z_label)
    tl.store(ptr + _PART_LABEL_WEIGHT * n, label_weight)
    tl.store(ptr + _PART_SMOOTH_SUM * n, smooth_sum)
    tl.store(ptr + _PART_SMOOTH_MASS * n, smooth_mass)
    tl.store(ptr + _PART_SMOOTH_COUNT * n, smooth_count)
    tl.store(ptr + _PART_ARGMAX * n, (first_class + best).to(tl.float32))


@triton.jit(do_not_specialize=_VARYING)
def combine_kernel(
    partials_ptr,
    target_ptr,
    losses_ptr,
    lse_ptr,
    argmax_ptr,
    statistics_ptr,
    n_rows,
    n_classes,
    n_parts,
    ignore_index,
    label_smoothing,
    HAS_SMOOTHING: tl.constexpr,
    HAS_ARGMAX: tl.constexpr,
):
    """Loss of one row from the partials of all its classes. Grid: (rows,).

    Parts come in ascending order of classes; ``n_classes`` is the size of the vocabulary.
    """
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(target_ptr + row)
    if label == ignore_index:
        _finish_ignored(row, losses_ptr, lse_ptr, argmax_ptr, statistics_ptr, n_rows, HAS_ARGMAX)
        return
    n = tl.cast(n_rows, tl.int64)
    peak = tl.cast(float("-inf"), tl.float32)
    others = tl.cast(0.0, tl.float32)
    z_label = tl.cast(float("-inf"), tl.float32)
    label_weight = tl.cast(0.0, tl.float32)
    smooth_sum = tl.cast(0.0, tl.float32)
    smooth_mass = tl.cast(0.0, tl.float32)
    smooth_count = tl.cast(0.0, tl.float32)
    best = tl.cast(0, tl.int32)
    for part in range(n_parts):
        ptr = partials_ptr + part * _PARTIALS * n + row
        part_peak = tl.load(ptr + _PEAK * n)
        new_peak = tl.maximum(peak, part_peak)
        base = _base_of(new_peak)
        part_others = tl.load(ptr + _OTHERS * n)
        others = others * tl.exp(peak - base) + part_others * tl.exp(part_peak - base)
        part_z = tl.load(ptr + _PART_LABEL_LOGIT * n)
        z_label = tl.where(part_z == float("-inf"), z_label, part_z)
        label_weight += tl.load(ptr + _PART_LABEL_WEIGHT * n)
        if HAS_SMOOTHING:
            part_mass = tl.load(ptr + _PART_SMOOTH_MASS * n)
            smooth_sum += (_base_of(peak) - base) * smooth_mass
            smooth_sum += (_base_of(part_peak) - base) * part_mass
            smooth_sum += tl.load(ptr + _PART_SMOOTH_SUM * n)
            smooth_mass += part_mass
            smooth_count += tl.load(ptr + _PART_SMOOTH_COUNT * n)
        if HAS_ARGMAX:
            part_best = tl.load(ptr + _PART_ARGMAX * n).to(tl.int32)
            best = tl.where(part_peak > peak, part_best, best)
        peak = new_peak
    _finish(
        row,
        losses_ptr,
        lse_ptr,
        argmax_ptr,
        statistics_ptr,
        n_rows,
        (label >= 0) & (label < n_classes),
        peak,
        others,
        z_label,
        label_weight,
        smooth_sum,
        smooth_mass,
        smooth_count,
        best,
        label_smoothing,
        HAS_SMOOTHING,
        HAS_ARGMAX,
    )


@triton.jit(do_not_specialize=_VARYING)
def gradient_kernel(
    out_ptr,
    out_row_stride,
    grad_losses_ptr,
    grad_losses_stride,
    grad_lse_ptr,
    grad_lse_stride,
    logits_ptr,
    logits_row_stride,
    target_ptr,
    weight_ptr,
    statistics_ptr,
    n_rows,
    n_classes,
    first_class,
    vocabulary,
    ignore_index,
    logit_scale,
    softcap,
    label_smoothing,
    HAS_GRAD_LOSSES: tl.constexpr,
    HAS_GRAD_LSE: tl.constexpr,
    HAS_SCALE: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    HAS_SMOOTHING: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Gradient of one block of one row. Grid: (rows, cdiv(n_classes, BLOCK)).

    ``out_ptr`` may be ``logits_ptr``: a program writes only what it alone has read. The true
    class gets ``-(1 - p)`` in float32, before the only rounding. Subtracting 1 from a stored
    half-precision ``p`` loses the whole gradient once ``p`` rounds to 1 (p = 0.999).
    """
    row = tl.program_id(0).to(tl.int64)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = offs < n_classes
    out_row = out_ptr + row * out_row_stride
    out_dtype = out_ptr.dtype.element_ty
    label = tl.load(target_ptr + row)
    if label == ignore_index:
        tl.store(out_row + offs, tl.zeros([BLOCK], out_dtype), mask=inside)
        return
    scale = tl.cast(logit_scale, tl.float32)
    cap = tl.cast(softcap, tl.float32)
    n = tl.cast(n_rows, tl.int64)
    base = tl.load(statistics_ptr + _BASE * n + row)
    log_total = tl.load(statistics_ptr + _LOG_TOTAL * n + row)

    # The gradient at z is at_label * (p - [label]) + everywhere * p - uniform * weight.
    at_label = tl.cast(0.0, tl.float32)
    everywhere = tl.cast(0.0, tl.float32)
    uniform = tl.cast(0.0, tl.float32)
    if HAS_GRAD_LOSSES:
        grad_loss = tl.load(grad_losses_ptr + row * grad_losses_stride).to(tl.float32)
        grad_loss = tl.where((label >= 0) & (label < vocabulary), grad_loss, float("nan"))
        at_label = grad_loss * tl.load(statistics_ptr + _LABEL_WEIGHT * n + row)
        if HAS_SMOOTHING:
            at_label = at_label * (1.0 - tl.cast(label_smoothing, tl.float32))
            everywhere = grad_loss * tl.load(statistics_ptr + _SMOOTH_MASS * n + row)
            uniform = grad_loss * tl.load(statistics_ptr + _SMOOTH_SCALE * n + row)
    if HAS_GRAD_LSE:
        everywhere += tl.load(grad_lse_ptr + row * grad_lse_stride).to(tl.float32)

    x = tl.load(logits_ptr + row * logits_row_stride + offs, mask=inside, other=0.0)
    x = x.to(tl.float32)
    z = _scaled_and_capped(x, scale, cap, HAS_SCALE, HAS_SOFTCAP)
    p = tl.exp((z - base) - log_total)
    dz = (at_label + everywhere) * p
    if HAS_GRAD_LOSSES:
        miss = tl.load(statistics_ptr + _MISS * n + row)
        label_here = _label_here(label, first_class, n_classes)
        dz = tl.where(offs == label_here, everywhere * p - at_label * miss, dz)
        if HAS_SMOOTHING:
            kept = inside & (z > float("-inf"))
            if HAS_WEIGHT:
                weight = tl.load(weight_ptr + offs, mask=kept, other=0.0)
                dz = dz - uniform * weight
            else:
                dz = dz - tl.where(kept, uniform, 0.0)
    dx = _chain(dz, x, scale, cap, HAS_SCALE, HAS_SOFTCAP)
    tl.store(out_row + offs, dx.to(out_dtype), mask=inside)
