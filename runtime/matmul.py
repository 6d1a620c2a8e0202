"""Products of half-precision matrices whose sums stay in float32.

``torch.mm`` of half matrices accumulates in float32, then rounds the sum to half. These products
omit that rounding where torch supports it.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F

_HALF = (torch.bfloat16, torch.float16)

# CUDA has `out_dtype` since torch 2.8; since 2.10 `addmm` adds to float32, and ROCm's result is
# right (pytorch/pytorch#167931, #162600).
_HAS_OUT_DTYPE = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 10)

# Elements of a matrix that a CPU holds in float32 at a time: 16 MiB, shared by all rows of the
# other matrix.
UPCAST_TILE = 2**22


def operand_dtype(dtype: torch.dtype, device: torch.device) -> torch.dtype:
    """The dtype in which a device multiplies matrices of ``dtype``.

    CPUs multiply half matrices in float32, because their half products return half precision. Other
    devices multiply them unchanged.
    """
    return torch.float32 if device.type == "cpu" and dtype in _HALF else dtype


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """``F.linear`` of one dtype, in float32 for half operands.

    On devices other than CPU, and CUDA or ROCm with torch >= 2.10, it uses the operands' own dtype.

    Args:
        x: (m, k).
        weight: (n, k).
        bias: (n,) or None.

    Returns:
        (m, n).
    """
    if operand_dtype(x.dtype, x.device) != x.dtype:
        out = x.new_empty((x.shape[0], weight.shape[0]), dtype=torch.float32)
        x = x.float()
        for tile in _tiles(weight):
            torch.mm(x, weight[tile].float().t(), out=out[:, tile])
    elif _returns_float32(x):
        out = torch.mm(x, weight.t(), out_dtype=torch.float32)
    else:
        return F.linear(x, weight, bias)
    return out if bias is None else out.add_(bias)


def add_product_(out: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> None:
    """``out += a @ b``, with ``out`` in the operands' dtype or in float32.

    The product itself is rounded to half only where ``linear`` returns half.

    Args:
        out: (m, n), contiguous.
        a: (m, k), in the dtype of ``b`` or its ``operand_dtype``.
        b: (k, n).
    """
    if operand_dtype(b.dtype, b.device) != b.dtype:
        for tile in _tiles(b):
            out.addmm_(a[:, tile].to(out.dtype), b[tile].to(out.dtype))
    elif a.dtype == out.dtype:
        out.addmm_(a, b)
    elif _returns_float32(a):
        torch.addmm(out, a, b, out_dtype=torch.float32, out=out)
    else:
        out += a @ b


def _returns_float32(operand: torch.Tensor) -> bool:
    return _HAS_OUT_DTYPE and operand.is_cuda and operand.dtype in _HALF


def _tiles(matrix: torch.Tensor) -> Iterator[slice]:
    """Slices of rows, of ``UPCAST_TILE`` elements where a row is not larger."""
    rows, columns = matrix.shape
    step = max(1, UPCAST_TILE // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
