"""The calls that make an optimizer, and what they are given to train."""

from __future__ import annotations

from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.model.regex import regex

_FAMILIES = (
    "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "SGD", "RMSprop", "Adagrad", "Adadelta", "Rprop",
    "Adafactor", "Lion", "LAMB", "Lamb", "FusedAdam", "FusedLAMB", "FusedSGD", "Prodigy", "Muon",
)  # fmt: skip
_HELD = ("optimizer_class", "optimizer_cls", "optim_class", "optim_cls", "opt_class")
"""Variables that hold the class of an optimizer, as programs name them."""

OPTIMIZERS = frozenset(
    {
        *_FAMILIES,
        *_HELD,
        *(f"{name}8bit" for name in ("Adam", "AdamW", "Lion", "SGD", "RMSprop", "Adagrad", "LAMB")),
        *(f"Paged{name}{bits}" for name in ("AdamW", "Adam", "Lion") for bits in ("", "8bit")),
    }
)
"""The names that optimizers are called by: those of torch, bitsandbytes, apex and others."""

_CLASS = regex(rf"\w*(?:{'|'.join(_FAMILIES)})(?:_?\d+bit)?")
_OF_TORCH = regex(r"torch\.optim\.\w+")


def names_optimizer(name: str) -> bool:
    """True for the names of those, and of classes that are called like one: `GaLoreAdamW`."""
    return name in OPTIMIZERS or _CLASS.fullmatch(name) is not None


def parameters_of(call: Call) -> Argument | None:
    """The parameters that a call makes an optimizer for; None for other calls."""
    if call.name in OPTIMIZERS or _OF_TORCH.fullmatch(call.function or ""):
        return call.argument(0, "params")
    return None
