"""dtype names in the spelling of configs and command lines, and values that depend on a dtype."""

from __future__ import annotations

import difflib

import torch

# Spellings that are not already attributes of torch, by what they stand for.
_EXTRA_NAMES: dict[str, tuple[str, ...]] = {
    "bfloat16": ("bf16",),
    "float16": ("fp16", "f16"),
    "float32": ("fp32", "f32", "single"),
    "float64": ("fp64", "f64"),
    "complex32": ("chalf",),
    # vLLM and safetensors say "fp8_e4m3" / "F8_E4M3" for the finite-only ("fn") format, Triton
    # "fp8e4nv"; torch has no other e4m3 that CUDA computes in.
    "float8_e4m3fn": (
        *("e4m3", "e4m3fn", "float8_e4m3", "fp8_e4m3", "fp8_e4m3fn"),
        *("fp8e4m3", "fp8e4nv", "f8_e4m3"),
    ),
    "float8_e5m2": ("e5m2", "fp8_e5m2", "f8_e5m2", "fp8e5m2", "fp8e5"),
    "float8_e4m3fnuz": ("e4m3fnuz", "fp8_e4m3fnuz"),
    "float8_e5m2fnuz": ("e5m2fnuz", "fp8_e5m2fnuz"),
    "float8_e8m0fnu": ("e8m0", "e8m0fnu", "fp8_e8m0fnu", "f8_e8m0"),
    "int8": ("i8", "char"),
    "int16": ("i16",),
    "int32": ("i32",),
    "int64": ("i64",),
    "uint8": ("u8", "byte"),
    "bool": ("boolean",),
}

# Names that look like a dtype but do not name one.
_NOT_ONE_DTYPE: dict[str, str] = {
    "fp8": "two formats exist: use 'e4m3' (more precision) or 'e5m2' (more range)",
    "float8": "two formats exist: use 'e4m3' (more precision) or 'e5m2' (more range)",
    "tf32": "TF32 is how float32 matmuls are computed, not a dtype; see torch.backends.cuda.matmul",
    "auto": "'auto' leaves the choice to the checkpoint; read the dtype from the loaded model",
}

_BY_NAME: dict[str, torch.dtype] = {
    name: dtype for name, dtype in vars(torch).items() if isinstance(dtype, torch.dtype)
}
_BY_NAME.update(
    (alias, _BY_NAME[name])
    for name, aliases in _EXTRA_NAMES.items()
    if name in _BY_NAME
    for alias in aliases
)

# Floating dtypes without a negative finite value that a mask could be.
_MASKLESS: frozenset[torch.dtype] = frozenset(
    _BY_NAME[name] for name in ("float8_e8m0fnu", "float4_e2m1fn_x2") if name in _BY_NAME
)


def resolve_dtype(dtype: torch.dtype | str) -> torch.dtype:
    """The ``torch.dtype`` that a name stands for; a ``torch.dtype`` is returned unchanged.

    Knows every name in the torch namespace ("bfloat16", "half", "long"), with or without the
    "torch." prefix, and the short forms of configs and file formats: bf16, fp16, f16, fp32, fp64,
    e4m3, fp8_e5m2, F8_E4M3, i64. Case and surrounding spaces do not matter.

    Raises:
        ValueError: no such dtype; the message names the closest spellings.
        TypeError: neither a string nor a ``torch.dtype``.
    """
    if isinstance(dtype, torch.dtype):
        return dtype
    if not isinstance(dtype, str):
        raise TypeError(
            f"resolve_dtype() takes a torch.dtype or its name, not {type(dtype).__name__}"
        )
    name = dtype.strip().lower().removeprefix("torch.")
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in _NOT_ONE_DTYPE:
        raise ValueError(f"{dtype!r} does not name one dtype: {_NOT_ONE_DTYPE[name]}")
    close = difflib.get_close_matches(name, _BY_NAME, n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise ValueError(f"unknown dtype {dtype!r}{hint}")


def mask_value(dtype: torch.dtype | str) -> float:
    """The value that masks a score of ``dtype`` out of a softmax: ``torch.finfo(dtype).min / 2``.

    Half of the most negative finite value, because masks are added: to scores and to each other
    (padding mask + causal mask). ``finfo.min + finfo.min`` is -inf, and a row of -inf only makes
    softmax NaN; twice ``mask_value`` is exactly ``finfo.min``. The value is a power-of-two
    multiple of a representable number, so it is exact in ``dtype``, and ``masked_fill`` takes it
    (with the minimum of a wider dtype, or -1e9 in float16, it raises "value cannot be converted
    ... without overflow", torch 2.13). ``exp`` of it is zero, even of the -120 of the narrowest
    float8 when computed in float32.

    Args:
        dtype: the floating dtype of the *scores*, not of the boolean mask.

    Raises:
        TypeError: ``dtype`` is not floating, or has no negative value (e8m0) or is packed.
        ValueError: ``dtype`` is an unknown name.
    """
    resolved = resolve_dtype(dtype)
    if not resolved.is_floating_point or resolved in _MASKLESS:
        raise TypeError(f"mask_value() takes the floating dtype of the scores, not {resolved}")
    return torch.finfo(resolved).min / 2
