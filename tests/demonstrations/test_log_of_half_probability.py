"""Where the logarithms of probabilities are infinite in half precision, and what the fix gives."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402

from precision_lint.model.ranges import LAYOUTS  # noqa: E402

_HALF = {"float16": torch.float16, "bfloat16": torch.bfloat16}
_LOGITS = torch.linspace(-40, 40, 8001)


@pytest.mark.parametrize(("name", "first"), [("float16", 8.4), ("bfloat16", 6.3)])
def test_the_upper_end(name: str, first: float) -> None:
    logits = _LOGITS.to(_HALF[name])
    p = torch.sigmoid(logits)
    assert torch.log(1 - p)[logits >= first].isinf().all()
    assert torch.log1p(-p)[logits >= first].isinf().all()
    assert torch.log(1 - p)[logits < first - 0.1].isfinite().all()
    assert torch.log(1 - torch.sigmoid(_LOGITS))[_LOGITS.abs() < 16].isfinite().all()


def test_the_lower_end_is_one_of_float16() -> None:
    for name, dtype in _HALF.items():
        logits = _LOGITS.to(dtype)
        of_two = torch.stack([logits, torch.zeros_like(logits)], -1).softmax(-1)[:, 0]
        for p in (torch.sigmoid(logits), of_two):
            assert torch.log(p)[logits < -17.4].isinf().any() == (name == "float16")
            assert torch.log(p)[logits > -17].isfinite().all()


def test_numbers_that_are_rounded_away() -> None:
    zero, one = torch.zeros(1, dtype=torch.float16), torch.ones(1, dtype=torch.float16)
    assert torch.log(zero + 1e-8).isinf()
    assert torch.log(zero.clamp(min=1e-8)).isinf()
    assert torch.log(1 - one.clamp(1e-4, 1 - 1e-4)).isinf()
    assert torch.log(1 - one.bfloat16().clamp(max=1 - 1e-3)).isinf()


def test_numbers_that_are_not() -> None:
    zero, one = torch.zeros(1, dtype=torch.float16), torch.ones(1, dtype=torch.float16)
    assert torch.log(zero + 1e-7).isfinite()
    assert torch.log(1 - one + 1e-7).isfinite()
    assert torch.log(1 - one.clamp(1e-3, 1 - 1e-3)).isfinite()
    assert torch.log(1 - one.bfloat16() + 1e-30).isfinite()


def test_the_entropy_is_nan() -> None:
    p = torch.softmax(torch.tensor([0.0, 20.0]).half(), -1)
    assert (p * p.log()).sum().isnan()
    assert (p * torch.log(p + 1e-8)).sum().isnan()


@pytest.mark.parametrize("dtype", [torch.float32, *_HALF.values()], ids=str)
def test_the_fix_keeps_the_dtype_and_is_finite(dtype: torch.dtype) -> None:
    logits = _LOGITS.to(dtype)
    near = logits.abs() < 5
    for before, after in (
        (torch.log(torch.sigmoid(logits)), F.logsigmoid(logits)),
        (torch.log(1 - torch.sigmoid(logits)), F.logsigmoid(-logits)),
        (torch.log(torch.softmax(logits, -1)), torch.log_softmax(logits, -1)),
    ):
        assert after.dtype == before.dtype == dtype
        assert after.isfinite().all()
        known = before.isfinite() & near
        assert torch.allclose(after[known], before[known], rtol=0.05, atol=0.05)


@pytest.mark.parametrize("name", _HALF)
def test_numbers_are_rounded_as_torch_does(name: str) -> None:
    numbers = torch.cat([torch.randn(500), torch.randn(500) * 1e-7, torch.randn(500) * 1e5])
    numbers = numbers.double()
    expected = numbers.to(_HALF[name]).double().tolist()
    assert [*map(LAYOUTS[name].rounded, numbers.tolist())] == expected
    assert math.isnan(LAYOUTS[name].rounded(math.nan))
    assert LAYOUTS[name].rounded(-math.inf) == -math.inf
