"""Images as tensors: torchvision, kornia, diffusers' image processors."""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.terms import (
    Anything,
    Cast,
    Default,
    Either,
    Fixed,
    Given,
    Library,
    Many,
    NotATensor,
    Object,
    Option,
    Stacked,
    Torch,
    Tuple,
    Widened,
)

_TORCHVISION = "torchvision 0.29.1"
_KORNIA = "kornia 0.9.0"
_T = "torchvision.transforms"
_V2 = "torchvision.transforms.v2"
_F = "torchvision.transforms.functional torchvision.transforms.v2.functional"
_KEEPING = "torchvision.transforms.Resize"
_TO_TENSOR = "torchvision.transforms.ToTensor"
_TO_INTEGERS = "torchvision.transforms.PILToTensor"
_COMPOSE = "torchvision.transforms.Compose"
_IMAGE = Given(0, "img")

_OF_AN_IMAGE = Either((Default(), Fixed("float64")))
"""What `ToTensor` makes: the default dtype of 8-bit images, else the array's own."""

_TRANSFORMS = """
    CenterCrop ColorJitter GaussianBlur Grayscale Normalize Pad RandomAffine RandomCrop
    RandomErasing RandomGrayscale RandomHorizontalFlip RandomPerspective RandomResizedCrop
    RandomRotation RandomVerticalFlip Resize
"""

ROWS = (
    # transforms of torchvision: of a tensor a tensor of its dtype, of an image an image
    Library(_TORCHVISION, f"{_T} {_V2}", _TRANSFORMS, Object(_KEEPING)),
    Library(_TORCHVISION, _KEEPING, "__call__ forward", _IMAGE),
    Library(_TORCHVISION, _V2, "ToImage ToPureTensor ToTensor", Object(_V2 + ".ToImage")),
    Library(_TORCHVISION, _V2 + ".ToImage", "__call__", Anything()),
    Library(_TORCHVISION, _T, "ToTensor", Object(_TO_TENSOR)),
    Library(_TORCHVISION, _TO_TENSOR, "__call__", _OF_AN_IMAGE),
    Library(_TORCHVISION, _T, "PILToTensor", Object(_TO_INTEGERS)),
    Library(_TORCHVISION, _TO_INTEGERS, "__call__", Fixed("uint8")),
    Library(_TORCHVISION, _T, "Compose", Object(_COMPOSE)),
    Library(_TORCHVISION, _COMPOSE, "__call__", Either((_IMAGE, _OF_AN_IMAGE))),
    Library(
        _TORCHVISION,
        _F,
        """
        adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation
        adjust_sharpness affine autocontrast center_crop crop erase gaussian_blur hflip invert pad
        perspective resize resized_crop rgb_to_grayscale rotate solarize vflip
        """,
        Given(0),
    ),
    Library(_TORCHVISION, _F, "five_crop ten_crop", Many(Given(0))),
    Library(_TORCHVISION, _F, "normalize", Given(0, "tensor")),
    Library(_TORCHVISION, _F, "to_tensor", _OF_AN_IMAGE),
    Library(_TORCHVISION, _F, "pil_to_tensor", Fixed("uint8")),
    Library(
        _TORCHVISION,
        _F,
        "convert_image_dtype",
        Cast(Given(0), Given(1, "dtype"), "float32"),
    ),
    Library(
        _TORCHVISION,
        _V2 + ".functional",
        "to_dtype",
        Cast(Given(0), Given(1, "dtype"), "float32"),
    ),
    Library(_TORCHVISION, "torchvision.utils", "make_grid", Stacked(Given(0, "tensor"))),
    Library(_TORCHVISION, "torchvision.io", "decode_image read_image", Fixed("uint8")),
    Library(_TORCHVISION, "torchvision.ops", "batched_nms nms", Fixed("int64")),
    Library(_TORCHVISION, "torchvision.ops", "box_convert clip_boxes_to_image", Given(0, "boxes")),
    Library(_TORCHVISION, "torchvision.ops", "box_area", Widened(Given(0, "boxes"))),
    Library(
        _TORCHVISION,
        "torchvision.ops",
        "box_iou generalized_box_iou",
        Torch("div", Tuple((Widened(Given(0, "boxes1")), Widened(Given(1, "boxes2"))))),
    ),
    # kornia
    Library(_KORNIA, "kornia.filters", "gaussian_blur2d sobel", Given(0, "input")),
    Library(
        _KORNIA, "kornia.geometry kornia.geometry.transform", "hflip resize", Given(0, "input")
    ),
    Library(
        _KORNIA,
        "kornia.color",
        "rgb_to_grayscale rgb_to_hsv rgb_to_lab rgb_to_ycbcr",
        Given(0, "image"),
    ),
    Library(_KORNIA, "kornia.enhance", "denormalize normalize", Given(0, "data")),
    Library(_KORNIA, "kornia kornia.utils kornia.image", "tensor_to_image", NotATensor()),
    # diffusers
    Library(
        "diffusers 0.42.1",
        "diffusers.image_processor",
        "VaeImageProcessor",
        Object("diffusers.image_processor.VaeImageProcessor"),
    ),
    Library(
        "diffusers 0.42.1",
        "diffusers.image_processor.VaeImageProcessor",
        "postprocess",
        Option(
            Given(1, "output_type"),
            (("pt", Given(0, "image")), ("latent", Given(0, "image"))),
            NotATensor(),
        ),
    ),
    Library(
        "diffusers 0.42.1",
        "diffusers.utils.torch_utils",
        "randn_tensor",
        Cast(Default(), Given(3, "dtype")),
    ),
    # files of sound
    Library("librosa 0.11.0", "librosa", "load", Many(NotATensor())),
    Library("soundfile 0.14.0", "soundfile", "read", Many(NotATensor())),
    Library(
        "read: torchaudio 2.11 documents float32 samples",
        "torchaudio",
        "load",
        Many(Fixed("float32")),
    ),
)
