"""The loss of arbitrary shapes, values and options against float64 and against torch."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from precision_lint.runtime import cross_entropy  # noqa: E402
from tests.runtime.cross_entropy_checks import (  # noqa: E402
    DEVICE,
    INTERPRETED,
    assert_matches,
    leaf,
    make,
)

pytestmark = pytest.mark.usefixtures("small_blocks")


@st.composite
def batches(draw):
    """Logits of any shape, dtype, spread and strides, and labels of which some are ignored."""
    classes = draw(st.integers(1, 40))
    rest = draw(st.sampled_from([None, (), (3,), (2, 2)]))
    shape = (classes,) if rest is None else (draw(st.integers(0, 4)), classes, *rest)
    dtype = draw(st.sampled_from([torch.float32, torch.bfloat16, torch.float16]))
    spread = draw(st.sampled_from([0.0, 1.0, 5.0, 20.0]))
    logits, target = make(*shape, dtype=dtype, seed=draw(st.integers(0, 99)), spread=spread)
    if len(shape) > 1 and draw(st.booleans()):
        logits = logits.transpose(0, 1).contiguous().transpose(0, 1)
    ignored = draw(st.sampled_from([-100, 0, classes - 1]))
    if draw(st.booleans()) and target.dim():
        target[::2] = ignored
    return logits, target, ignored


@st.composite
def options(draw, classes):
    weight = None
    if draw(st.booleans()):
        weight = torch.linspace(0.1, 2.0, classes, device=DEVICE)
    reduction = draw(st.sampled_from(["mean", "sum", "none"]))
    return {
        "weight": weight,
        "reduction": reduction,
        "label_smoothing": draw(st.sampled_from([0.0, 0.1, 1.0])),
        "logit_scale": draw(st.sampled_from([1.0, 0.5, -1.0])),
        "softcap": draw(st.sampled_from([0.0, 0.0, 10.0])),
        "z_loss": draw(st.sampled_from([0.0, 0.01])),
        "num_items": draw(st.sampled_from([None, 7])) if reduction == "mean" else None,
    }


@settings(max_examples=15 if INTERPRETED else 200, deadline=None, derandomize=True)
@given(st.data())
def test_any_batch_and_options(data):
    logits, target, ignored = data.draw(batches())
    classes = logits.shape[min(1, logits.dim() - 1)]
    assert_matches(logits, target, ignore_index=ignored, **data.draw(options(classes)))


INF, NAN = math.inf, math.nan
ROW = (0.5, -1.0, 2.0, 0.0)

# Logits, labels, options. (docs of torch 2.13 leave most of these open; torch itself is the rule.)
EDGES = {
    "all ignored": ([ROW, ROW], [-100, -100], {}),
    "all ignored, smoothed": ([ROW], [-100], {"label_smoothing": 0.1}),
    "all ignored, weighted": ([ROW], [-100], {"weight": ROW}),
    "empty batch": (torch.empty(0, 4), [], {}),
    "ignored class is a class": ([ROW, ROW], [0, 2], {"ignore_index": 2}),
    "-inf away from the label": ([(0.5, -INF, 2.0, -INF)], [0], {}),
    "-inf at the label": ([(0.5, -INF, 2.0, 0.0)], [1], {}),
    "-inf everywhere": ([(-INF,) * 4], [1], {}),
    "all but the label -inf": ([(-INF, 3.0, -INF, -INF)], [1], {}),
    "inf away from the label": ([(INF, 0.0, 0.0, 0.0)], [1], {}),
    "inf at the label": ([(INF, 0.0, 0.0, 0.0)], [0], {}),
    "nan away from the label": ([(NAN, 0.0, 0.0, 0.0), ROW], [1, 1], {}),
    "nan at the label": ([(NAN, 0.0, 0.0, 0.0), ROW], [0, 1], {}),
    "largest finite": ([(3e38, -3e38, 0.0, 0.0)], [0], {}),
    "one class": ([(5.0,)], [0], {}),
    "weight 0 at the label": ([ROW], [1], {"weight": (1.0, 0.0, 1.0, 1.0)}),
    "weight 0 at one label": ([ROW, ROW], [1, 2], {"weight": (1.0, 0.0, 1.0, 1.0)}),
    "all of it smoothed": ([ROW], [1], {"label_smoothing": 1.0}),
}


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("edge", EDGES)
def test_edges_follow_torch(edge, reduction):
    rows, labels, kwargs = EDGES[edge]
    logits = torch.as_tensor(rows, device=DEVICE)
    target = torch.tensor(labels, dtype=torch.long, device=DEVICE)
    kwargs = {**kwargs, "reduction": reduction}
    if "weight" in kwargs:
        kwargs["weight"] = torch.tensor(kwargs["weight"], device=DEVICE)
    ours, theirs = leaf(logits, torch.float32), leaf(logits, torch.float32)
    loss = cross_entropy(ours, target, **kwargs)
    expected = F.cross_entropy(theirs, target, **kwargs)
    torch.testing.assert_close(loss, expected, equal_nan=True, rtol=1e-5, atol=1e-6)
    loss.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, equal_nan=True, rtol=1e-5, atol=1e-6)
