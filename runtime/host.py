"""From torch tensors to host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    import numpy as np

# The dtypes that NumPy lacks and that widen without loss (torch 2.13: `.numpy()` raises
# "Got unsupported ScalarType" for each). float8 names differ between torch releases.
_WIDENED: dict[torch.dtype, torch.dtype] = {
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
    **{
        dtype: torch.float32
        for name, dtype in vars(torch).items()
        if name.startswith("float8_") and isinstance(dtype, torch.dtype)
    },
}

_SHARED: frozenset[torch.dtype] = frozenset(
    dtype
    for name in (
        *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
    if isinstance(dtype := getattr(torch, name, None), torch.dtype)
)


def to_numpy(t: torch.Tensor | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``t`` as a NumPy array, for any dtype, device and autograd state.

    bfloat16 and every float8 become float32, complex32 becomes complex64; all other dtypes are
    kept. As with ``Tensor.numpy()``, the result shares memory with a CPU tensor whose dtype NumPy
    has; otherwise it is a copy. The device-to-host copy moves the narrow bytes, widening happens
    on the host. An ndarray is returned unchanged, so the call is idempotent.

    Args:
        t: a dense tensor of any shape and strides; it may require grad, be on any device, and
            carry a conjugate or negative bit.

    Raises:
        TypeError: ``t`` is neither a tensor nor an array; it is sparse (call ``to_dense()``); or
            its dtype has no NumPy counterpart that keeps its values (quantized, sub-byte, bits).
        NotImplementedError: ``t`` is on the meta device and has no data.
    """
    if not isinstance(t, torch.Tensor):
        import numpy as np  # torch itself does not depend on it

        if isinstance(t, np.ndarray):
            return t
        raise TypeError(f"to_numpy() takes a torch.Tensor, not {type(t).__name__}")
    if t.dtype not in _SHARED and t.dtype not in _WIDENED:
        raise TypeError(f"to_numpy(): NumPy has no counterpart of {t.dtype}; {_advice(t)}")
    host = t.detach().cpu()
    # bfloat16 is named, so that a linter sees that none is left.
    if host.dtype == torch.bfloat16 or host.dtype in _WIDENED:
        host = host.to(_WIDENED[host.dtype])
    return host.resolve_conj().resolve_neg().numpy()


def _advice(t: torch.Tensor) -> str:
    if t.is_quantized:
        return "call dequantize() for its values or int_repr() for its storage"
    return "unpack it, or view it as uint8 for its raw bytes"
