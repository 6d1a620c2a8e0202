"""Count in which dtype models of timm return under autocast to bfloat16: features, and the whole.

    pip install timm torchvision
    python scripts/measure_features.py

One model of each kind runs on the CPU, with random weights. Norms run in float32, as under the
autocast of CUDA. The figures are in `precision_lint/facts/dtypes/syntax/sources.py`. For models
without a head (`num_classes=0`) they are in `precision_lint/facts/dtypes/domain/values.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import timm
import torch
import torch.nn.functional as F

MODELS = """
beit_base_patch16_224 cait_xxs24_224 coat_lite_tiny convnext_atto crossvit_tiny_240 davit_tiny
deit_tiny_patch16_224 densenet121 edgenext_xx_small efficientnet_b0 eva02_tiny_patch14_224
fastvit_t8 focalnet_tiny_srf gcvit_xxtiny hiera_tiny_224 levit_128s mixer_s32_224
mobilenetv3_small_050 mobilevit_xxs nest_tiny_jx poolformer_s12 pvt_v2_b0 regnetx_002
resmlp_12_224 resnet18 sequencer2d_s swin_tiny_patch4_window7_224 tnt_s_patch16_224
twins_svt_small visformer_tiny vit_tiny_patch16_224 volo_d1_224 xcit_nano_12_p16_224
""".split()


def in_float32(norm: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A norm that widens what it is given in an autocast region."""

    @wraps(norm)
    def widened(x: torch.Tensor, *arguments: Any, **keywords: Any) -> torch.Tensor:
        return norm(x.float() if torch.is_autocast_enabled("cpu") else x, *arguments, **keywords)

    return widened


def dtypes(name: str) -> tuple[str, str, str]:
    """The dtypes of the features and of the results with and without a head.

    `list` if a model returns several features.
    """
    model = timm.create_model(name, pretrained=False).eval()
    headless = timm.create_model(name, pretrained=False, num_classes=0).eval()
    images = torch.randn(1, *model.default_cfg["input_size"])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        features, result, bare = model.forward_features(images), model(images), headless(images)
    features_dtype = str(features.dtype) if isinstance(features, torch.Tensor) else "list"
    return features_dtype, str(result.dtype), str(bare.dtype)


def main() -> None:
    F.layer_norm, F.group_norm = in_float32(F.layer_norm), in_float32(F.group_norm)
    found = {name: dtypes(name) for name in MODELS}
    for name, each in found.items():
        print(name, *each)
    print(f"timm {timm.__version__}, torch {torch.__version__}")
    for position, title in enumerate(("features", "results", "results without a head")):
        print(title, dict(Counter(each[position] for each in found.values())))


if __name__ == "__main__":
    main()
