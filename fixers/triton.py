"""Repairing Triton kernels: computing in float32 from a load on, compile-time flags."""

from __future__ import annotations

from precision_lint.finding import Edit, Span


def widen(load: Span, float32: str) -> Edit:
    """`tl.load(p)` to `tl.load(p).to(tl.float32)`.

    Not `tl.cast`: releases of Triton that are in use do not take it where they take `.to`.
    """
    return Edit(Span(load.end, load.end), f".to({float32})")


def annotate(at: int, constexpr: str) -> Edit:
    """`FLAG` to `FLAG: tl.constexpr` in a parameter list."""
    return Edit(Span(at, at), f": {constexpr}")
