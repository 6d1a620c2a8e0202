"""Small mixed-precision helpers for PyTorch, which fixed code imports.

Importing this package needs torch and nothing else: no GPU, no Triton, and none of the linter's
own dependencies. Triton is imported when the first CUDA loss is computed.
"""

from __future__ import annotations

from precision_lint.runtime.amp import grad_scaler
from precision_lint.runtime.cross_entropy import CrossEntropyLoss, cross_entropy
from precision_lint.runtime.cross_entropy_reduction import CrossEntropyOutput
from precision_lint.runtime.dtypes import mask_value, resolve_dtype
from precision_lint.runtime.host import to_numpy
from precision_lint.runtime.linear_cross_entropy import linear_cross_entropy
from precision_lint.runtime.masking import masked_fill, safe_softmax

__all__ = [
    "CrossEntropyLoss",
    "CrossEntropyOutput",
    "cross_entropy",
    "grad_scaler",
    "linear_cross_entropy",
    "mask_value",
    "masked_fill",
    "resolve_dtype",
    "safe_softmax",
    "to_numpy",
]
