"""DeepSpeed's own configuration model against `deepspeed.toml`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("DS_ACCELERATOR", "cpu")
config = pytest.importorskip("deepspeed.runtime.config", minversion=None)

from tests.oracles import ABSENT, choices, errors  # noqa: E402

BASE: dict[str, object] = {"train_micro_batch_size_per_gpu": 1}
ENABLED = (ABSENT, True, False, "auto")
SECTIONS = [
    {"fp16": fp16, "bf16": bf16, "zero_optimization": {"stage": 2}}
    for fp16 in choices(
        enabled=ENABLED, loss_scale=(ABSENT, 0, 128.0, -1), opt_level=(ABSENT, "O2")
    )
    for bf16 in choices(enabled=ENABLED, loss_scale=(ABSENT, 0))
] + [
    {"bf16": bf16, "zero_optimization": {"stage": stage}}
    for stage in (0, 1, 2)
    for bf16 in choices(
        enabled=(True, False),
        bf16_master_weights_and_grads=(ABSENT, True),
        bf16_optimizer_states=(ABSENT, True),
        immediate_grad_update=(ABSENT, True),
        hysteresis=(ABSENT, 2),
    )
] + [
    {"fp16": fp16, "zero_optimization": {"stage": 1}}
    for fp16 in choices(
        enabled=(True, False),
        loss_scale=(ABSENT, 0, float("inf"), True),
        min_loss_scale=(ABSENT, 1, 0.5, 0),
        loss_scale_window=(ABSENT, 1000, 0),
    )
] + [
    {first: True, "zero_optimization": {"stage": 1}} for first in ("fp16", "bf16")
]  # fmt: skip


def accepts(section: dict[str, object]) -> str:
    """What DeepSpeed says to a configuration; empty if it takes it."""
    try:
        config.DeepSpeedConfig({**BASE, **section})
    except (ValueError, AssertionError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("number", range(0, len(SECTIONS), 40))
def test_same_verdict_as_deepspeed(number: int, tmp_path: Path) -> None:
    wrong = []
    for index, section in enumerate(SECTIONS[number : number + 40]):
        said = accepts(section)
        found = errors(tmp_path / str(index), ds_config__json={**BASE, **section})
        if bool(said) != bool(found):
            wrong.append((section, said[:200], [finding.message for finding in found]))
    assert not wrong, f"{len(wrong)} of 40: {wrong[:3]}"


def test_both_verdicts_occur() -> None:
    said = [accepts(section) for section in SECTIONS]
    assert 50 < sum(map(bool, said)) < len(said) - 50
