"""What the tests of the loss share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def small_blocks() -> Iterator[None]:
    """Small blocks for the Triton kernels, and these for CPU tensors where they are interpreted.

    The torch path gets chunks of a few rows.
    """
    from precision_lint.runtime import cross_entropy_operator as operator
    from precision_lint.runtime import cross_entropy_torch
    from tests.runtime.cross_entropy_checks import BLOCK, DEVICE, INTERPRETED

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_entropy_torch, "CPU_CHUNK", 4 * BLOCK)
        if INTERPRETED or DEVICE == "cuda":
            fused = pytest.importorskip("precision_lint.runtime.cross_entropy_triton")
            patch.setattr(fused, "FORWARD_BLOCK", BLOCK)
            patch.setattr(fused, "GRADIENT_BLOCK", BLOCK)
            if INTERPRETED:
                patch.setattr(operator, "implementation", lambda logits: fused)
        yield
