"""Triton kernels of the cross-entropy loss over rows of logits.

Both kernels keep to rules that each prevent a known failure:

* logits become float32 at the load; every name keeps one dtype in all branches and loops. A
  run-time ``if`` that rescales a bfloat16 block does not compile ("initial value for `logits` is
  of type bf16 ... but the then block redefines it");
* every flag is ``tl.constexpr``, so that an ``if`` on it is resolved at compile time;
* every float argument is pinned by ``tl.cast(.., tl.float32)``: ``torch.compile`` passes Python
  floats as float64 (torch 2.13);
* row offsets are int64: rows x classes passes 2^31 at 16k tokens and a 128k vocabulary.
"""

# Triton has no types: neither its decorator nor what it decorates can be checked.
# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
# mypy: disallow-incomplete-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import triton
import triton.language as tl


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
def forward_kernel(
    logits_ptr,
    logits_row_stride,
    target_ptr,
    loss_ptr,
    peak_ptr,
    log_sum_ptr,
    n_classes,
    ignore_index,
    logit_scale,
    softcap,
    HAS_SCALE: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Loss of one row, by an online log-sum-exp over blocks of classes. Grid: (rows,).

    Saves the row's maximum and ``log(sum(exp(z - max)))`` apart: their sum, the log-sum-exp, has
    lost the second term's low bits when the logits share a large offset.
    """
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(target_ptr + row)
    if label == ignore_index:
        # A stored zero, since 0 * loss would pass on the NaN of a padded position.
        tl.store(loss_ptr + row, 0.0)
        return
    scale = tl.cast(logit_scale, tl.float32)
    cap = tl.cast(softcap, tl.float32)
    row_ptr = logits_ptr + row * logits_row_stride

    peak = tl.cast(float("-inf"), tl.float32)
    total = tl.cast(0.0, tl.float32)
    for start in range(0, n_classes, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        inside = offs < n_classes
        x = tl.load(row_ptr + offs, mask=inside, other=0.0).to(tl.float32)
        z = _scaled_and_capped(x, scale, cap, HAS_SCALE, HAS_SOFTCAP)
        # Masked after the transform: a softcap turns -inf into a finite -cap.
        z = tl.where(inside, z, float("-inf"))
        new_peak = tl.maximum(peak, tl.max(z, 0))
        # While all logits are -inf, subtracting the maximum would be -inf - -inf = NaN.
        base = tl.where(new_peak == float("-inf"), 0.0, new_peak)
        total = total * tl.exp(peak - base) + tl.sum(tl.exp(z - base), 0)
        peak = new_peak
    log_sum = tl.log(total)

    # A label outside the vocabulary makes the loss NaN: loud, without a host synchronisation.
    known = (label >= 0) & (label < n_classes)
    x_label = tl.load(row_ptr + label, mask=known, other=float("nan")).to(tl.float32)
    z_label = _scaled_and_capped(x_label, scale, cap, HAS_SCALE, HAS_SOFTCAP)
    tl.store(loss_ptr + row, log_sum - (z_label - peak))
    tl.store(peak_ptr + row, peak)
    tl.store(log_sum_ptr + row, log_sum)


@triton.jit
def backward_kernel(
    grad_logits_ptr,
    grad_logits_row_stride,
    grad_loss_ptr,
    grad_loss_stride,
    logits_ptr,
    logits_row_stride,
    target_ptr,
    peak_ptr,
    log_sum_ptr,
    n_classes,
    ignore_index,
    logit_scale,
    softcap,
    HAS_SCALE: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Gradient of one block of one row. Grid: (rows, cdiv(n_classes, BLOCK)).

    The true class gets ``p - 1`` in float32, before the only rounding. Subtracting 1 from a
    stored half-precision ``p`` loses the whole gradient once ``p`` rounds to 1 (p = 0.999).
    """
    row = tl.program_id(0).to(tl.int64)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = offs < n_classes
    grad_ptr = grad_logits_ptr + row * grad_logits_row_stride
    grad_dtype = grad_logits_ptr.dtype.element_ty
    label = tl.load(target_ptr + row)
    if label == ignore_index:
        tl.store(grad_ptr + offs, tl.zeros([BLOCK], grad_dtype), mask=inside)
        return
    scale = tl.cast(logit_scale, tl.float32)
    cap = tl.cast(softcap, tl.float32)
    grad_loss = tl.load(grad_loss_ptr + row * grad_loss_stride).to(tl.float32)
    known = (label >= 0) & (label < n_classes)
    grad_loss = tl.where(known, grad_loss, float("nan"))
    peak = tl.load(peak_ptr + row)
    log_sum = tl.load(log_sum_ptr + row)

    x = tl.load(logits_ptr + row * logits_row_stride + offs, mask=inside, other=0.0)
    x = x.to(tl.float32)
    z = _scaled_and_capped(x, scale, cap, HAS_SCALE, HAS_SOFTCAP)
    p = tl.exp((z - peak) - log_sum)
    dz = grad_loss * tl.where(offs == label, p - 1.0, p)
    dx = _chain(dz, x, scale, cap, HAS_SCALE, HAS_SOFTCAP)
    tl.store(grad_ptr + offs, dx.to(grad_dtype), mask=inside)
