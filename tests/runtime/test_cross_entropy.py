"""The loss against a float64 reference.

Runs on the torch path, and on the Triton kernels where CUDA is present or TRITON_INTERPRET=1 is
set (`test_cross_entropy_interpreted.py` runs this file that way).
"""

from __future__ import annotations

import importlib
import math
import os

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

from precision_lint.runtime import cross_entropy  # noqa: E402

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if torch.cuda.is_available() and not INTERPRETED else "cpu"
BLOCK = 16

HALF = (torch.bfloat16, torch.float16)
DTYPES = (torch.float32, *HALF)
# (logit_scale, softcap)
TRANSFORMS = ((1.0, 0.0), (0.25, 0.0), (1.0, 3.0), (2.0, 5.0), (-1.0, 0.0))

on_cpu_only = pytest.mark.skipif(INTERPRETED or DEVICE != "cpu", reason="torch path on CPU")
on_kernels_only = pytest.mark.skipif(not INTERPRETED and DEVICE == "cpu", reason="Triton kernels")
on_cuda_only = pytest.mark.skipif(DEVICE != "cuda", reason="needs CUDA")


@pytest.fixture(autouse=True)
def _kernels_with_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    if not INTERPRETED and DEVICE == "cpu":
        return
    fused = pytest.importorskip("precision_lint.runtime.cross_entropy_triton")
    monkeypatch.setattr(fused, "FORWARD_BLOCK", BLOCK)
    monkeypatch.setattr(fused, "BACKWARD_BLOCK", BLOCK)
    if INTERPRETED:
        dispatch = importlib.import_module("precision_lint.runtime.cross_entropy")
        monkeypatch.setattr(dispatch, "reference_row_losses", fused.fused_row_losses)


def reference(logits, target, *, logit_scale=1.0, softcap=0.0, **kwargs):
    z = logits.double() * logit_scale
    if softcap:
        z = softcap * torch.tanh(z / softcap)
    return F.cross_entropy(z, target, **kwargs)


def leaf(logits, dtype):
    return logits.detach().to(dtype, copy=True).requires_grad_()


def make(*shape, dtype=torch.float32, seed=0, spread=3.0):
    """Random logits in ``dtype`` and labels; float64 copies of the logits are exact."""
    generator = torch.Generator().manual_seed(seed)
    logits = (torch.randn(shape, generator=generator) * spread).to(dtype)
    classes, rest = (shape[0], ()) if len(shape) == 1 else (shape[1], (shape[0], *shape[2:]))
    target = torch.randint(0, classes, rest, generator=generator)
    return logits.to(DEVICE), target.to(DEVICE)


def tolerance(dtype):
    """Half an ulp of rounding on hardware; the interpreter truncates to bfloat16: a whole ulp."""
    if dtype == torch.float32:
        return {"rtol": 1e-5, "atol": 3e-7}
    ulp = torch.finfo(dtype).eps
    return {"rtol": 1.01 * ulp if INTERPRETED else 0.51 * ulp, "atol": 3e-7}


def assert_matches(logits, target, upstream=None, **kwargs):
    """Loss and gradient agree with float64."""
    x, exact = leaf(logits, logits.dtype), leaf(logits, torch.float64)
    loss, expected = cross_entropy(x, target, **kwargs), reference(exact, target, **kwargs)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), expected, rtol=2e-6, atol=2e-6, equal_nan=True)
    upstream = torch.ones_like(loss) if upstream is None else upstream
    loss.backward(upstream)
    expected.backward(upstream.double())
    assert x.grad.dtype == logits.dtype
    torch.testing.assert_close(
        x.grad.double(), exact.grad, equal_nan=True, **tolerance(logits.dtype)
    )
    return x.grad


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("logit_scale", "softcap"), TRANSFORMS)
def test_dtypes_and_transforms(dtype, logit_scale, softcap):
    # 50 classes: three whole blocks and a partial one.
    logits, target = make(4, 50, dtype=dtype)
    target[1] = -100
    target[3] = 49
    assert_matches(logits, target, logit_scale=logit_scale, softcap=softcap)


@pytest.mark.parametrize("classes", [1, 2, 15, 16, 17, 32])
def test_class_counts_around_the_block(classes):
    assert_matches(*make(3, classes))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignore_index", [-100, 0, 1, 7])
def test_reductions_and_ignore_index(reduction, ignore_index):
    logits, target = make(5, 20)
    target[2] = ignore_index
    grad = assert_matches(logits, target, reduction=reduction, ignore_index=ignore_index)
    assert not grad[2].any()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_ignored(dtype):
    logits, target = make(3, 20, dtype=dtype)
    target.fill_(-100)
    x = leaf(logits, dtype)
    mean = cross_entropy(x, target)
    assert mean.isnan()
    assert cross_entropy(x, target, reduction="sum") == 0
    assert not cross_entropy(x, target, reduction="none").any()
    mean.backward()
    assert not x.grad.any()


def test_ignored_rows_do_not_leak_nan():
    logits, target = make(3, 20)
    target[1] = -100
    logits[1] = math.nan
    x = leaf(logits, torch.float32)
    loss = cross_entropy(x, target, softcap=5.0, logit_scale=2.0)
    loss.backward()
    assert loss.isfinite()
    assert x.grad.isfinite().all()
    assert not x.grad[1].any()


@pytest.mark.parametrize(
    "shape", [(9,), (3, 9), (2, 9, 3), (2, 9, 3, 2), (0, 9), (0, 9, 4), (2, 9, 0)], ids=str
)
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_shapes_follow_torch(shape, reduction):
    logits, target = make(*shape)
    assert cross_entropy(logits, target, reduction=reduction).shape == (
        F.cross_entropy(logits, target, reduction=reduction).shape
    )
    assert_matches(logits, target, reduction=reduction)


def test_empty_batch_has_an_empty_gradient():
    x = torch.empty(0, 9, device=DEVICE, requires_grad=True)
    target = torch.empty(0, dtype=torch.long, device=DEVICE)
    assert cross_entropy(x, target).isnan()
    cross_entropy(x, target, reduction="sum").backward()
    assert x.grad.shape == (0, 9)


def strided(kind):
    if kind == "padded rows":
        return make(4, 40)[0][:, :20]
    if kind == "shifted rows":
        return make(4, 21)[0][:, 1:]
    if kind == "transposed":
        return make(20, 4)[0].t()
    if kind == "every other class":
        return make(4, 40)[0][:, ::2]
    if kind == "every other row":
        return make(8, 20)[0][::2]
    return make(1, 20)[0].expand(4, 20)


@pytest.mark.parametrize(
    "kind",
    [
        *("padded rows", "shifted rows", "transposed", "every other class", "every other row"),
        "one row expanded",
    ],
)
def test_strides(kind):
    logits = strided(kind)
    target = torch.tensor([3, 3, 19, 19, 0, 0, 7, 7], device=DEVICE)[::2]
    upstream = torch.ones((), device=DEVICE)
    exact = leaf(logits, torch.float64)
    x = logits.detach().requires_grad_()
    (grad,) = torch.autograd.grad(cross_entropy(x, target), x, upstream)
    reference(exact, target).backward()
    torch.testing.assert_close(grad.double(), exact.grad, rtol=1e-5, atol=3e-7)


def test_sequence_logits_transposed_to_class_dim():
    # (batch, time, vocab) as models return it, class dimension moved as torch wants it.
    logits, _ = make(2, 3, 20)
    target = torch.tensor([[1, -100, 19], [0, 5, 6]], device=DEVICE)
    assert_matches(logits.transpose(1, 2), target)


@pytest.mark.parametrize("kind", ["expanded", "strided", "dense"])
def test_upstream_gradient_strides(kind):
    logits, target = make(4, 20)
    upstream = {
        "expanded": torch.tensor(0.5).expand(4),
        "strided": torch.arange(8.0)[::2],
        "dense": torch.arange(4.0),
    }[kind].to(DEVICE)
    assert_matches(logits, target, upstream=upstream, reduction="none")


@pytest.mark.parametrize("softcap", [0.0, 5.0])
def test_minus_infinity_logits(softcap):
    logits, target = make(3, 50)
    target[:] = torch.tensor([40, 3, 3])
    logits[0, :BLOCK] = -math.inf  # the whole first block
    logits[1, BLOCK : 2 * BLOCK] = -math.inf
    logits[2, 7] = -math.inf
    assert_matches(logits, target, softcap=softcap)


def test_minus_infinity_target_and_row():
    logits, target = make(2, 20)
    logits[0, target[0]] = -math.inf
    logits[1] = -math.inf
    losses = cross_entropy(logits, target, reduction="none")
    assert losses[0] == math.inf
    assert losses[1].isnan()


def test_nan_and_infinite_logits_are_loud():
    logits, target = make(2, 20)
    logits[0, 3] = math.nan
    logits[1, 3] = math.inf
    assert cross_entropy(logits, target, reduction="none").isnan().all()


def test_large_common_offset():
    # A log-sum-exp kept as one float32 number would cost 3 digits of loss and gradient here.
    logits, target = make(3, 20)
    assert_matches((logits + 10_000).round(decimals=2), target)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("probability", [0.9, 0.99, 0.999, 0.9999])
def test_gradient_of_a_confident_true_class(dtype, probability):
    # softmax = p at the label: `p` rounded to bfloat16 before `- 1` would give 0 at 0.999.
    logits = torch.zeros(1, 20, dtype=dtype, device=DEVICE)
    logits[0, 4] = math.log(19 * probability / (1 - probability))
    target = torch.tensor([4], device=DEVICE)
    grad = assert_matches(logits, target)
    assert grad[0, 4].item() == pytest.approx(-(1 - probability), rel=0.05)


def test_loss_keeps_float32_precision():
    # F.cross_entropy rounds the loss of bfloat16 logits to 3 significant digits.
    logits, target = make(8, 64, dtype=torch.bfloat16, spread=6.0)
    loss = cross_entropy(logits, target, reduction="none")
    assert (loss.bfloat16().float() != loss).any()


def test_tiny_scaled_logits_under_a_huge_softcap():
    logits, target = make(3, 20)
    assert_matches(logits, target, softcap=1e4, logit_scale=1e-3)


@pytest.mark.parametrize(("logit_scale", "softcap"), TRANSFORMS)
def test_directional_derivative(logit_scale, softcap):
    logits, target = make(4, 50)
    x = leaf(logits, torch.float32)
    cross_entropy(x, target, logit_scale=logit_scale, softcap=softcap).backward()
    direction = torch.randn(4, 50, generator=torch.Generator().manual_seed(1)).double().to(DEVICE)
    step = 1e-5

    def loss(sign):
        moved = logits.double() + sign * step * direction
        return reference(moved, target, logit_scale=logit_scale, softcap=softcap)

    numeric = (loss(1) - loss(-1)) / (2 * step)
    torch.testing.assert_close((x.grad.double() * direction).sum(), numeric, rtol=1e-5, atol=1e-6)


def test_logits_are_left_alone_and_reusable():
    logits, target = make(4, 20)
    x = leaf(logits, torch.float32)
    loss = cross_entropy(x, target) + x.square().mean()
    loss.backward(retain_graph=True)
    once = x.grad.clone()
    loss.backward()
    torch.testing.assert_close(x.grad, 2 * once)
    torch.testing.assert_close(x.detach(), logits, rtol=0, atol=0)


def test_gradient_reaches_what_made_the_logits():
    hidden, target = make(4, 8, spread=1.0)
    weight = make(20, 8, seed=1)[0].requires_grad_()
    cross_entropy(hidden @ weight.t(), target).backward()
    exact = leaf(weight, torch.float64)
    reference(hidden.double() @ exact.t(), target).backward()
    torch.testing.assert_close(weight.grad.double(), exact.grad, rtol=1e-4, atol=1e-6)


def test_no_grad():
    logits, target = make(4, 20)
    x = leaf(logits, torch.float32)
    with torch.no_grad():
        loss = cross_entropy(x, target)
    assert not loss.requires_grad
    torch.testing.assert_close(loss.double(), reference(logits, target), rtol=2e-6, atol=2e-6)


def test_byte_targets():
    logits, target = make(4, 20)
    assert_matches(logits, target.to(torch.uint8))


@pytest.mark.parametrize(
    ("logits", "target", "error", "message"),
    [
        ((2, 3), torch.zeros(3, dtype=torch.long), ValueError, "need a target of shape"),
        ((2, 3), torch.zeros(2, 1, dtype=torch.long), ValueError, "need a target of shape"),
        ((2, 3, 4), torch.zeros(2, 3, dtype=torch.long), ValueError, r"shape \(2, 4\)"),
        ((), torch.zeros((), dtype=torch.long), ValueError, "class dimension"),
        ((2, 0), torch.zeros(2, dtype=torch.long), ValueError, "no classes"),
        ((0,), torch.zeros((), dtype=torch.long), ValueError, "no classes"),
        ((2, 3), torch.zeros(2, dtype=torch.int32), RuntimeError, "Long or Byte"),
        ((2, 3), torch.zeros(2, dtype=torch.bool), RuntimeError, "Long or Byte"),
        ((2, 3), torch.zeros(2, 3), TypeError, "class probabilities"),
    ],
)
def test_bad_targets(logits, target, error, message):
    with pytest.raises(error, match=message):
        cross_entropy(torch.zeros(logits, device=DEVICE), target.to(DEVICE))


@pytest.mark.parametrize("dtype", [torch.int64, torch.complex64, torch.float8_e4m3fn], ids=str)
def test_bad_logits_dtype(dtype):
    with pytest.raises(TypeError, match="logits must be"):
        cross_entropy(torch.zeros(2, 3).to(dtype), torch.zeros(2, dtype=torch.long))


def test_device_mismatch():
    with pytest.raises(ValueError, match="but the target is on"):
        cross_entropy(torch.zeros(2, 3, device="meta"), torch.zeros(2, dtype=torch.long))


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"reduction": "batchmean"}, ValueError),
        ({"softcap": -1.0}, ValueError),
        ({"softcap": math.inf}, ValueError),
        ({"logit_scale": math.nan}, ValueError),
        ({"logit_scale": torch.tensor(2.0)}, TypeError),
    ],
    ids=str,
)
def test_bad_options(kwargs, error):
    with pytest.raises(error):
        cross_entropy(*make(2, 3), **kwargs)


@on_cpu_only
def test_label_outside_the_vocabulary_on_cpu():
    with pytest.raises(IndexError, match="out of bounds"):
        cross_entropy(torch.zeros(1, 3), torch.tensor([3]))


@on_cpu_only
def test_float64_stays_float64_and_differentiates_twice():
    logits, target = make(3, 5, dtype=torch.float64)
    target[1] = -100

    def loss(x):
        return cross_entropy(x, target, logit_scale=0.5, softcap=4.0)

    x = logits.requires_grad_()
    assert loss(x).dtype == torch.float64
    assert torch.autograd.gradcheck(loss, x)
    assert torch.autograd.gradgradcheck(loss, x)


@on_cpu_only
def test_under_autocast():
    logits, target = make(4, 20, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = cross_entropy(logits, target, softcap=5.0)
    torch.testing.assert_close(
        loss.double(), reference(logits, target, softcap=5.0), rtol=2e-6, atol=2e-6
    )


@on_kernels_only
def test_label_outside_the_vocabulary_is_nan():
    logits, _ = make(3, 20)
    x = leaf(logits, torch.float32)
    target = torch.tensor([20, -1, 4], device=DEVICE)
    losses = cross_entropy(x, target, reduction="none")
    assert losses.isnan().tolist() == [True, True, False]
    losses.sum().backward()
    assert x.grad.isnan().all(1).tolist() == [True, True, False]


@on_kernels_only
def test_gradient_close_to_the_softcap():
    # 1 - tanh(8)^2 is 4.5e-7: below float32's resolution of the difference.
    logits = torch.tensor([[8.0, 7.0, 6.0, -8.0]], device=DEVICE)
    target = torch.tensor([1], device=DEVICE)
    x, exact = leaf(logits, torch.float32), leaf(logits, torch.float64)
    cross_entropy(x, target, softcap=1.0).backward()
    reference(exact, target, softcap=1.0).backward()
    torch.testing.assert_close(x.grad.double(), exact.grad, rtol=1e-4, atol=0)


@on_kernels_only
def test_double_backward_is_refused():
    logits, target = make(2, 20)
    x = leaf(logits, torch.float32)
    (grad,) = torch.autograd.grad(cross_entropy(x, target), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiable once"):
        grad.sum().backward()


@on_kernels_only
def test_rows_beyond_two_billion_elements():
    # Rows 2^30 elements apart: the third starts at 2^31. The memory is reserved, not touched.
    rows, stride = 3, 2**30
    logits, target = make(rows, 20, dtype=torch.float16)
    try:
        far = torch.empty((rows - 1) * stride + 20, dtype=torch.float16, device=DEVICE)
    except RuntimeError as error:
        pytest.skip(f"no 4 GiB to reserve: {error}")
    far = far.as_strided((rows, 20), (stride, 1))
    far.copy_(logits)
    x = far.requires_grad_()
    losses = cross_entropy(x, target, reduction="none")
    torch.testing.assert_close(
        losses.double(), reference(logits, target, reduction="none"), rtol=2e-6, atol=2e-6
    )
    near = leaf(logits, torch.float16)
    cross_entropy(near, target, reduction="none").sum().backward()
    (grad,) = torch.autograd.grad(losses.sum(), x)
    torch.testing.assert_close(grad, near.grad, rtol=0, atol=0)


@on_cuda_only
def test_no_host_synchronisation():
    logits, target = make(4, 20, dtype=torch.bfloat16)
    x = leaf(logits, torch.bfloat16)
    cross_entropy(x, target).backward()  # compiles
    torch.cuda.set_sync_debug_mode("error")
    try:
        cross_entropy(x, target, softcap=0.0).backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")
