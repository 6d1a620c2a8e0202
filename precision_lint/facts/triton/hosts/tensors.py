"""What PyTorch's functions make of dtypes, as far as host code around kernels uses them."""

from __future__ import annotations

DTYPES: dict[str, str] = {
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float": "fp32",
    "float64": "fp64",
    "double": "fp64",
    "bool": "int1",
    "uint8": "uint8",
    **{f"int{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2": "fp8e5",
    "float8_e5m2fnuz": "fp8e5b16",
}
"""Triton's name of each dtype of torch that kernels take."""

FLOAT_FACTORIES = frozenset({"empty", "zeros", "ones", "rand", "randn", "empty_strided"})
"""They make float32 unless a dtype is given."""
LIKE_FACTORIES = frozenset({"empty_like", "zeros_like", "ones_like", "rand_like", "randn_like"})
LIKE_THIS = frozenset({"full_like"})
NEW_FACTORIES = frozenset({"new_empty", "new_zeros", "new_ones", "new_full", "new_empty_strided"})
"""Methods: they make what the tensor is."""
OTHER_FACTORIES = frozenset({"full", "tensor", "arange"})
FACTORIES = FLOAT_FACTORIES | LIKE_FACTORIES | LIKE_THIS | NEW_FACTORIES | OTHER_FACTORIES

SAME = frozenset(
    {"contiguous", "view", "reshape", "flatten", "detach", "clone", "t", "transpose", "permute"}
    | {"squeeze", "unsqueeze", "expand", "cuda", "cpu", "requires_grad_", "view_as", "expand_as"}
    | {"sum", "mean", "amax", "amin", "abs", "neg", "mul_", "add_", "sub_", "div_", "zero_"}
    | {"fill_", "copy_", "index_select", "gather", "narrow", "repeat", "repeat_interleave", "roll"}
    | {"unflatten", "swapaxes", "movedim", "select", "clamp", "clamp_", "masked_fill", "pin_memory"}
    | {"exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "relu", "softmax", "cumsum", "unbind"}
    | {"rearrange", "repeat", "reduce", "pad", "flip", "triu", "tril", "normalize", "maximum"}
    | {"clamp_max", "clamp_min", "clip", "softplus", "logsigmoid", "silu", "gelu", "elu", "celu"}
    | {"selu", "mish", "leaky_relu", "relu6", "hardtanh", "hardswish", "log_softmax", "dropout"}
    | {"square", "reciprocal", "cos", "sin", "expm1", "log1p", "log2", "exp2", "erf", "cumprod"}
    | {"floor", "ceil", "round", "nan_to_num"}
)
"""Methods and functions that return the dtype of the tensor that they are given first, if that is
a float."""
MIXING = frozenset(
    {"add", "sub", "mul", "div", "cat", "stack", "concat", "where", "addcmul", "atan2", "hypot"}
)
"""Functions that promote what they are given."""
WIDE = frozenset({"view_as_real"})
"""Functions of complex tensors: those of complex64 and complex128 are wide; few use complex32."""
METHOD_CASTS = frozenset({"half", "bfloat16", "float", "double", "bool", "int", "long", "short"})
"""`x.half()`"""
