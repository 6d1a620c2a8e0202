"""What half precision makes of large fill values, and what the fix makes of them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from precision_lint.model.ranges import LAYOUTS  # noqa: E402

_MASK = torch.tensor([True, False])
_FLOAT32_MIN = torch.finfo(torch.float32).min


@pytest.mark.parametrize(
    ("dtype", "number"),
    [(torch.float16, -1e9), (torch.float16, -65505.0), (torch.bfloat16, _FLOAT32_MIN)],
    ids=str,
)
def test_these_calls_raise(dtype: torch.dtype, number: float) -> None:
    x = torch.zeros(2, dtype=dtype)
    for call in (
        lambda: x.masked_fill(_MASK, number),
        lambda: x.clone().masked_fill_(_MASK, number),
        lambda: torch.masked_fill(x, _MASK, number),
        lambda: x.clone().fill_(number),
        lambda: x.index_fill(0, torch.tensor([0]), number),
        lambda: x.new_full((2,), number),
        lambda: torch.full_like(x, number),
        lambda: torch.full((2,), number, dtype=dtype),
    ):
        with pytest.raises(RuntimeError, match="value cannot be converted to type c10::"):
            call()


def test_where_gives_infinity_and_a_masked_row_nan() -> None:
    scores = torch.zeros(2, dtype=torch.float16)
    assert torch.where(_MASK, scores, -1e9).tolist() == [0, float("-inf")]
    masked = torch.where(torch.zeros(2, dtype=torch.bool), scores, -1e9)
    assert masked.softmax(-1).isnan().all()
    assert not torch.where(_MASK & ~_MASK, scores.float(), -1e9).softmax(-1).isnan().any()


def test_infinity_and_numbers_in_range_are_fine() -> None:
    x = torch.zeros(2, dtype=torch.float16)
    for number in (float("-inf"), -65504, -1e4, torch.finfo(x.dtype).min):
        assert x.masked_fill(_MASK, number)[0] == number
    assert x.bfloat16().masked_fill(_MASK, -1e9)[0] < -9e8


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_the_fix_keeps_the_value_of_float32_and_masks_in_half_precision(dtype: torch.dtype) -> None:
    scores = torch.randn(2, 4).to(dtype)
    mask = torch.tensor([True, False, True, False])
    masked = scores.masked_fill(mask, max(-1e9, torch.finfo(scores.dtype).min))
    if dtype == torch.float32:
        assert masked.equal(scores.masked_fill(mask, -1e9))
    assert masked.softmax(-1)[:, mask].eq(0).all()


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_limits_are_those_of_torch(name: str) -> None:
    layout, limits = LAYOUTS[name], torch.finfo(getattr(torch, name))
    assert (layout.max, layout.eps, layout.tiny) == (limits.max, limits.eps, limits.tiny)
    if name != "float64":  # beyond 2^53 Python's floats have gaps as well
        integers = torch.tensor([layout.integers - 1.0, layout.integers, layout.integers + 1.0])
        kept = integers.double().to(getattr(torch, name)).double()
        assert kept.tolist()[:2] == integers.tolist()[:2]
        if name != "float32":
            assert kept[2] != integers[2]
