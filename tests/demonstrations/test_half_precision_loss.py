"""What the loss of half-precision logits is, beside what it should be."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
F = pytest.importorskip("torch.nn.functional")

from precision_lint.runtime import cross_entropy  # noqa: E402


@pytest.fixture
def logits() -> torch.Tensor:
    return torch.randn(512, 1000, generator=torch.Generator().manual_seed(0)).bfloat16()


@pytest.fixture
def labels() -> torch.Tensor:
    return torch.arange(512)


def test_the_loss_has_the_digits_of_its_logits(logits: torch.Tensor, labels: torch.Tensor) -> None:
    right = F.cross_entropy(logits.double(), labels)
    wrong = F.cross_entropy(logits, labels)
    assert wrong.dtype == torch.bfloat16
    assert abs(wrong.double() - right) > 1e-3 * right
    repaired = cross_entropy(logits, labels)
    assert repaired.dtype == torch.float32
    assert abs(repaired.double() - right) < 1e-6 * right


def test_a_loss_between_2_and_4_moves_in_steps_of_a_64th() -> None:
    losses = torch.linspace(2, 3.99, 1000).bfloat16()
    assert losses.unique().diff().unique().tolist() == [1 / 64]


def test_a_sum_above_256_moves_in_steps_of_2(logits: torch.Tensor, labels: torch.Tensor) -> None:
    right = F.cross_entropy(logits.double(), labels, reduction="sum")
    wrong = F.cross_entropy(logits, labels, reduction="sum")
    assert right > 2048
    assert abs(wrong.double() - right) >= 1
    assert abs(cross_entropy(logits, labels, reduction="sum").double() - right) < 1e-6 * right


def test_autocast_computes_it_in_float32(logits: torch.Tensor, labels: torch.Tensor) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert F.cross_entropy(logits, labels).dtype == torch.float32
        assert F.nll_loss(logits, labels).dtype == torch.float32


def test_perplexity_is_off_by_per_cents() -> None:
    loss = torch.tensor(10.03, dtype=torch.float64)  # early in training
    assert loss.bfloat16().double().exp() / loss.exp() < 0.971
