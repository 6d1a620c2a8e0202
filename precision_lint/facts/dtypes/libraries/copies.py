"""What copies a module: of the standard library, torch, diffusers and timm."""

from __future__ import annotations

COPIES = frozenset(
    {"deepcopy", "EMAModel", "AveragedModel", "ModelEma", "ModelEmaV2", "ModelEmaV3"}
)
"""Whoever gives the module knows its dtype. All but `deepcopy` average its weights."""
