"""masked_fill and safe_softmax."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from precision_lint.runtime import mask_value, masked_fill, safe_softmax  # noqa: E402

HALVES = [torch.float16, torch.bfloat16]
FLOATS = [*HALVES, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_default_is_the_mask_value(dtype):
    scores = torch.zeros(2, 3, dtype=dtype)
    filled = masked_fill(scores, torch.tensor([True, False, True]))
    assert filled.dtype == dtype
    assert filled.tolist() == [[mask_value(dtype), 0.0, mask_value(dtype)]] * 2
    assert not scores.any()


@pytest.mark.parametrize(
    ("dtype", "value", "becomes"),
    [
        (torch.float16, -1e9, -65504.0),
        (torch.float16, 1e9, 65504.0),
        (torch.bfloat16, torch.finfo(torch.float32).min, torch.finfo(torch.bfloat16).min),
        (torch.float32, -1e300, torch.finfo(torch.float32).min),
        (torch.float16, -math.inf, -math.inf),
        (torch.bfloat16, -1e9, torch.tensor(-1e9, dtype=torch.bfloat16).item()),
        (torch.float32, -1e9, -1e9),
        (torch.float32, 0, 0.0),
    ],
)
def test_values_that_the_dtype_holds(dtype, value, becomes):
    filled = masked_fill(torch.ones(2, dtype=dtype), torch.tensor([True, False]), value)
    assert filled.tolist() == [becomes, 1.0]


def test_torch_itself_raises():
    """What the helper is there for; if it passes one day, the docstring is out of date."""
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.ones(2, dtype=torch.float16).masked_fill(torch.tensor([True, False]), -1e9)


def test_nan_is_filled_in_as_nan():
    assert masked_fill(torch.ones(1), torch.tensor([True]), math.nan).isnan().all()


@pytest.mark.parametrize("value", [None, 0.0])
def test_scores_are_floating(value):
    with pytest.raises(TypeError, match="floating"):
        masked_fill(torch.ones(1, dtype=torch.int64), torch.tensor([True]), value)


def test_masked_scores_have_no_gradient():
    scores = torch.ones(3, requires_grad=True)
    masked_fill(scores, torch.tensor([True, False, False])).sum().backward()
    assert scores.grad.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mask", [-math.inf, "minimum", "mask value"])
def test_a_row_of_masks_gives_zeros(dtype, mask):
    values = {"minimum": torch.finfo(dtype).min, "mask value": mask_value(dtype)}
    scores = torch.randn(2, 4, generator=torch.Generator().manual_seed(0)).to(dtype)
    scores[0] = values.get(mask, mask)
    scores.requires_grad_()
    probabilities = safe_softmax(scores)
    assert probabilities.dtype == dtype
    assert not probabilities[0].any()
    (probabilities * torch.arange(4)).sum().backward()
    assert not scores.grad[0].any()
    assert scores.grad[1].isfinite().all()
    assert scores.grad[1].any()


def test_two_masks_add_up():
    both = masked_fill(torch.zeros(1, 2, dtype=torch.float16), torch.tensor([True, True]))
    assert safe_softmax(both + both).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("dtype", HALVES)
def test_computed_in_float32_and_rounded_once(dtype):
    scores = (torch.randn(64, 512, generator=torch.Generator().manual_seed(1)) * 8).to(dtype)
    exact = torch.softmax(scores.double(), -1)
    assert torch.equal(safe_softmax(scores, dtype=torch.float32).to(dtype), safe_softmax(scores))
    torch.testing.assert_close(
        safe_softmax(scores, dtype=torch.float32).double(), exact, rtol=1e-5, atol=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=0, max_size=4).flatmap(
        lambda shape: (
            st.tuples(st.just(shape), st.integers(-max(1, len(shape)), len(shape) - 1))
            if shape
            else st.just((shape, -1))
        )
    ),
    st.integers(0, 2**16),
)
def test_torch_softmax_where_a_row_has_a_score(shape_and_dim, seed):
    shape, dim = shape_and_dim
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(shape, generator=generator)
    dropped = torch.rand(shape, generator=generator) < 0.4
    scores = scores.masked_fill(dropped, -math.inf)
    expected = torch.softmax(scores, dim).nan_to_num(0.0)
    assert torch.equal(safe_softmax(scores, dim), expected)


def test_nan_stays_nan():
    assert safe_softmax(torch.tensor([math.nan, 1.0])).isnan().all()
    assert safe_softmax(torch.tensor([math.nan, -math.inf])).isnan().all()


def test_gradcheck():
    scores = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    scores[1, 2:] = -math.inf
    assert torch.autograd.gradcheck(
        lambda free: safe_softmax(torch.cat([free, scores[:, 2:]], 1)),
        scores[:, :2].clone().requires_grad_(),
    )


def test_compiles_without_a_break():
    def attention(scores, mask):
        return safe_softmax(masked_fill(scores, mask))

    scores = torch.randn(2, 4, dtype=torch.bfloat16)
    mask = torch.tensor([[True] * 4, [False, True, False, False]])
    compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(scores, mask), attention(scores, mask))


def test_scores_of_a_softmax_are_floating():
    with pytest.raises(TypeError, match="floating"):
        safe_softmax(torch.ones(2, dtype=torch.int64))
