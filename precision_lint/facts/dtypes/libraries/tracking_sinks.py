"""Records of experiments: W&B and tensorboardX.

Not here, as they take bfloat16: `torch.utils.tensorboard` (since torch 2.3, which converts it to
float16 itself: https://github.com/pytorch/pytorch/pull/120087), the loggers of Lightning,
`Accelerator.log`, torchmetrics, evaluate, `datasets.Dataset.from_dict`. `wandb.log` and `Run.log`
take a bfloat16 tensor without dimensions and raise for one that has some.
"""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.conversion import Sink, Sinks

_WRITER = "tensorboardX.SummaryWriter"


def _second(keyword: str) -> Sink:
    return Sink(frozenset({1}), frozenset({keyword}))


_DATA = frozenset({"data_or_path"})

SINKS: Sinks = (
    (_WRITER, _second("scalar_value"), "add_scalar"),
    (_WRITER, Sink(frozenset({1}), frozenset({"tag_scalar_dict"}), mappings=True), "add_scalars"),
    (_WRITER, _second("values"), "add_histogram"),
    (_WRITER, _second("img_tensor"), "add_image add_images"),
    (_WRITER, _second("vid_tensor"), "add_video"),
    (_WRITER, _second("snd_tensor"), "add_audio"),
    (_WRITER, Sink(frozenset({0}), frozenset({"mat"})), "add_embedding"),
    (_WRITER, Sink(frozenset({2}), frozenset({"predictions"})), "add_pr_curve"),
    ("wandb", Sink(frozenset({0}), _DATA, lists=False, array="something else"), "Image"),
    ("wandb", Sink(frozenset({0}), frozenset({"sequence"})), "Histogram"),
    ("wandb", Sink(frozenset({0}), _DATA, lists=False), "Audio Video"),
)

BOARD = "torch.utils.tensorboard.SummaryWriter"

UNTIL: dict[str, tuple[Sink, str, tuple[int, int]]] = {
    f"{BOARD}.add_histogram": (_second("values"), "torch", (2, 3)),
}
"""Sinks of older releases: the library, and the first release that takes bfloat16.

Read in `torch/utils/tensorboard/_convert_np.py` of torch 2.2.2 and 2.3.0.
"""
