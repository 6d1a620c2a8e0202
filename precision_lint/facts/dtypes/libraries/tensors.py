"""Libraries of tensor operations: einops, torchvision, kornia, torchaudio, encoders."""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.terms import (
    Given,
    Library,
    Many,
    NotATensor,
    Object,
    Rest,
    Stacked,
    Torch,
    Tuple,
)

_EINOPS = "einops 0.8.2"
_STACKED = Stacked(Given(0, "tensor"))

ROWS = (
    Library(_EINOPS, "einops einops.einops", "rearrange repeat reduce", _STACKED),
    Library(_EINOPS, "einops einops.einops", "einsum", Torch("einsum", Rest())),
    Library(
        _EINOPS,
        "einops einops.packing",
        "pack",
        Tuple((Stacked(Given(0, "tensors")), NotATensor())),
    ),
    Library(_EINOPS, "einops einops.packing", "unpack", Many(Given(0, "tensor"))),
    Library(
        _EINOPS, "einops.layers.torch", "Rearrange Reduce", Object("einops.layers.torch.Reduce")
    ),
    Library(_EINOPS, "einops.layers.torch.Reduce", "__call__ forward", Given(0, "input")),
)
