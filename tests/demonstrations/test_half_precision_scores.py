"""How many different scores half precision leaves, and what that does to a ranking."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def logits() -> torch.Tensor:
    return torch.randn(10_000, 50, generator=torch.Generator().manual_seed(0)) * 3


@pytest.mark.parametrize(("dtype", "most"), [(torch.bfloat16, 650), (torch.float16, 3000)], ids=str)
def test_scores_tie(logits: torch.Tensor, dtype: torch.dtype, most: int) -> None:
    half = logits.to(dtype)
    assert half.log_softmax(-1)[:, 0].unique().numel() < most
    assert half.float().log_softmax(-1)[:, 0].unique().numel() > 9900


def test_sums_of_log_probabilities_are_off(logits: torch.Tensor) -> None:
    half = logits.bfloat16()
    right = half.double().log_softmax(-1)[:, 0].cumsum(0)
    repaired = half.float().log_softmax(-1)[:, 0].cumsum(0)
    wrong = half.log_softmax(-1)[:, 0].cumsum(0)
    assert (repaired - right).abs().max() < 0.1
    assert (wrong - right).abs().max() > 50


def test_top_p_cuts_elsewhere(logits: torch.Tensor) -> None:
    flat = (logits[:500].repeat(1, 20) / 3).bfloat16()  # many tokens of a like probability
    cuts = [
        (made.softmax(-1).sort(-1, descending=True)[0].cumsum(-1) <= 0.9).sum(-1)
        for made in (flat, flat.float(), flat.double())
    ]
    assert (cuts[0] != cuts[2]).float().mean() > 0.5
    assert (cuts[1] != cuts[2]).float().mean() < 0.1
