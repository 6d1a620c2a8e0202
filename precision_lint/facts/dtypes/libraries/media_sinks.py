"""Images, sound and meshes: what writes or converts them."""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.conversion import Sink, Sinks

_IMAGE = Sink(frozenset({0}), frozenset({"pic", "image", "img"}), lists=False)
_CHANNELS_FIRST = Sink(frozenset({0}), frozenset({"pic"}), lists=False, array="something else")
"""Of an array they take the last dimension for the channels."""
_FIRST = Sink(frozenset({0}))
_WRITTEN = Sink(frozenset({1}), frozenset({"im", "image"}))

SINKS: Sinks = (
    ("soundfile", Sink(frozenset({1}), frozenset({"data"})), "write"),
    ("imageio", _WRITTEN, "imwrite imsave"),
    ("imageio.v2", _WRITTEN, "imwrite imsave"),
    ("imageio.v3", _WRITTEN, "imwrite"),
    ("imageio.Writer", Sink(frozenset({0}), frozenset({"im"})), "append_data"),
    ("soundfile.SoundFile", Sink(frozenset({0}), frozenset({"data"})), "write"),
    # torchvision 0.29
    ("torchvision.transforms.functional", _CHANNELS_FIRST, "to_pil_image"),
    ("torchvision.transforms.v2.functional", _CHANNELS_FIRST, "to_pil_image"),
    ("torchvision.transforms.ToPILImage", _CHANNELS_FIRST, "__call__"),
    ("torchvision.transforms.v2.ToPILImage", _CHANNELS_FIRST, "__call__"),
    # transformers 5.23
    ("transformers.utils", _FIRST, "to_numpy"),
    ("transformers.utils.generic", _FIRST, "to_numpy"),
    ("transformers.image_utils", _IMAGE, "to_numpy_array"),
    ("transformers.image_transforms", _IMAGE, "to_pil_image"),
    # scikit-image 0.26, librosa 0.11, mediapy 1.2, trimesh 5.2
    ("skimage", _FIRST, "img_as_float img_as_float32 img_as_ubyte"),
    ("skimage.util", _FIRST, "img_as_float img_as_float32 img_as_ubyte"),
    ("skimage.color", _FIRST, "lab2rgb rgb2gray rgb2lab"),
    ("skimage.filters", _FIRST, "gaussian"),
    ("librosa", _FIRST, "amplitude_to_db power_to_db"),
    ("mediapy", Sink(frozenset({1}), frozenset({"image"})), "write_image"),
    ("mediapy", _IMAGE, "resize_image show_image to_uint8"),
    ("trimesh", Sink(frozenset({0}), frozenset({"vertices"})), "PointCloud Trimesh"),
)

SINCE: dict[str, tuple[str, tuple[int, int]]] = {
    f"torchvision.transforms.{name}": ("torch", (2, 2))
    for name in (
        *("functional.to_pil_image", "v2.functional.to_pil_image"),
        *("ToPILImage.__call__", "v2.ToPILImage.__call__"),
    )
}
"""Sinks that older releases were not, and the release of torch that goes with the first one.

torchvision 0.16.2 makes bytes of a tensor before it makes an array; 0.17.0, for torch 2.2, makes an
array first (read in both).
"""

METHODS: dict[str, Sink] = {"append_data": Sink(frozenset({0}), frozenset({"im"}))}
"""Methods of objects of which nothing is known but that they are no tensors."""
