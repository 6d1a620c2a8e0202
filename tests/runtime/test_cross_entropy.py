"""The loss against a float64 reference.

Runs on the torch path, and on the Triton kernels where CUDA is present or TRITON_INTERPRET=1 is
set (`test_cross_entropy_interpreted.py` runs this file that way).
"""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

from precision_lint.runtime import cross_entropy  # noqa: E402
from precision_lint.runtime import cross_entropy_operator as operator  # noqa: E402
from precision_lint.runtime.cross_entropy_rows import RowOptions  # noqa: E402
from tests.runtime.cross_entropy_checks import (  # noqa: E402
    BLOCK,
    DEVICE,
    INTERPRETED,
    assert_matches,
    leaf,
    make,
    reference,
)

pytestmark = pytest.mark.usefixtures("small_blocks")

HALF = (torch.bfloat16, torch.float16)
DTYPES = (torch.float32, *HALF)
# (logit_scale, softcap)
TRANSFORMS = ((1.0, 0.0), (0.25, 0.0), (1.0, 3.0), (2.0, 5.0), (-1.0, 0.0))

on_cpu_only = pytest.mark.skipif(INTERPRETED or DEVICE != "cpu", reason="torch path on CPU")
on_kernels_only = pytest.mark.skipif(not INTERPRETED and DEVICE == "cpu", reason="Triton kernels")
on_cuda_only = pytest.mark.skipif(DEVICE != "cuda", reason="needs CUDA")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("logit_scale", "softcap"), [(1.0, 0.0), (0.5, 5.0)])
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("z_loss", [0.0, 0.01])
def test_grid(dtype, logit_scale, softcap, label_smoothing, weighted, z_loss):
    logits, target = make(4, 50, dtype=dtype)
    target[1] = -100
    kwargs = {"label_smoothing": label_smoothing, "z_loss": z_loss}
    kwargs |= {"logit_scale": logit_scale, "softcap": softcap}
    if weighted:
        kwargs["weight"] = torch.linspace(0.0, 2.0, 50, device=DEVICE)
    assert_matches(logits, target, **kwargs)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(9,), (3, 9), (2, 9, 3), (2, 9, 3, 2)], ids=str)
def test_options_over_shapes_and_reductions(reduction, shape):
    logits, target = make(*shape)
    weight = torch.linspace(0.1, 2.0, 9, device=DEVICE)
    assert_matches(
        logits, target, weight=weight, label_smoothing=0.2, z_loss=0.1, reduction=reduction
    )


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


def test_small_losses_keep_their_digits():
    # log(1 + others) would round the others away: torch's float32 loss is off by 7 % at the first
    # gap, and 0 at the last.
    gaps = torch.tensor([14.0, 16.0, 18.0, 25.0], device=DEVICE)
    logits = torch.zeros(4, 20, device=DEVICE)
    logits[:, 7] = gaps
    target = torch.full((4,), 7, device=DEVICE)
    x, exact = leaf(logits, torch.float32), leaf(logits, torch.float64)
    losses = cross_entropy(x, target, reduction="none")
    expected = torch.log1p(19 * torch.exp(-gaps.double()))
    torch.testing.assert_close(losses.double(), expected, rtol=2e-6, atol=0)
    losses.sum().backward()
    torch.testing.assert_close(x.grad[:, 7].double(), torch.expm1(-expected), rtol=3e-6, atol=0)
    reference(exact, target, reduction="sum").backward()
    torch.testing.assert_close(x.grad.double(), exact.grad, rtol=3e-6, atol=0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_smoothing_leaves_out_classes_at_minus_infinity(weighted, reduction):
    logits, target = make(3, 50)
    kept = torch.ones(50, dtype=torch.bool, device=DEVICE)
    kept[:20] = False  # a whole block and a part of the next
    kept[40] = False
    target[:] = torch.tensor([20, 30, 45])
    weight = torch.linspace(0.1, 2.0, 50, device=DEVICE) if weighted else None
    masked = leaf(logits.masked_fill(~kept, -math.inf), torch.float32)
    loss = cross_entropy(masked, target, weight=weight, label_smoothing=0.1, reduction=reduction)
    fewer = leaf(logits[:, kept], torch.float64)
    places = kept.cumsum(0) - 1
    expected = F.cross_entropy(
        fewer,
        places[target],
        None if weight is None else weight[kept].double(),
        label_smoothing=0.1,
        reduction=reduction,
    )
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=1e-6)
    loss.sum().backward()
    expected.sum().backward()
    assert not masked.grad[:, ~kept].any()
    torch.testing.assert_close(masked.grad[:, kept].double(), fewer.grad, rtol=1e-5, atol=3e-7)


def test_everything_that_can_be_returned():
    logits, target = make(5, 50)
    target[1] = -100
    target[2] = logits[2].argmax()
    logits[3, 10] = logits[3, 30] = 20.0  # a tie, in different blocks
    out = cross_entropy(
        logits,
        target,
        z_loss=0.1,
        softcap=30.0,
        return_lse=True,
        return_z_loss=True,
        return_accuracy=True,
        return_argmax=True,
    )
    z = 30.0 * torch.tanh(logits.double() / 30.0)
    counted = target != -100
    lse = z.logsumexp(1) * counted
    torch.testing.assert_close(out.lse.double(), lse, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(out.z_loss.double(), 0.1 * lse.square().sum() / 4)
    expected = reference(logits, target, softcap=30.0, z_loss=0.1)
    torch.testing.assert_close(out.loss.double(), expected, rtol=1e-6, atol=1e-6)
    best = z.argmax(1)
    best[3] = 10
    assert out.argmax.tolist() == torch.where(counted, best, -1).tolist()
    assert out.accuracy.item() == (best == target)[counted].double().mean().item()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_accuracy_is_reduced_as_the_loss(reduction):
    logits = torch.eye(4, device=DEVICE)
    target = torch.tensor([0, 2, 2, -1], device=DEVICE)
    out = cross_entropy(logits, target, ignore_index=-1, reduction=reduction, return_accuracy=True)
    expected = {"mean": pytest.approx(2 / 3), "sum": 2.0, "none": [1.0, 0.0, 1.0, 0.0]}
    assert out.accuracy.tolist() == expected[reduction]
    assert out.lse is out.z_loss is out.argmax is None


def test_gradient_through_the_returned_lse():
    logits, target = make(4, 50)
    target[1] = -100
    x, exact = leaf(logits, torch.float32), leaf(logits, torch.float64)
    out = cross_entropy(x, target, return_lse=True, softcap=5.0)
    (3 * out.loss + out.lse.square().sum()).backward()
    z = 5.0 * torch.tanh(exact / 5.0)
    squares = z.logsumexp(1).square() * (target != -100)
    (3 * reference(exact, target, softcap=5.0) + squares.sum()).backward()
    torch.testing.assert_close(x.grad.double(), exact.grad, rtol=1e-5, atol=3e-6)
    alone = leaf(logits, torch.float32)
    cross_entropy(alone, target, return_lse=True).lse.sum().backward()
    expected = logits.double().softmax(1) * (target != -100).unsqueeze(1)
    torch.testing.assert_close(alone.grad.double(), expected, rtol=1e-5, atol=3e-7)


@pytest.mark.parametrize("as_tensor", [False, True])
def test_num_items_adds_up_over_micro_batches(as_tensor):
    logits, target = make(6, 20)
    target[:2] = -100
    options = {"label_smoothing": 0.1, "z_loss": 0.1}
    whole, parts = leaf(logits, torch.float32), leaf(logits, torch.float32)
    expected = cross_entropy(whole, target, **options)
    items = torch.tensor([4], device=DEVICE) if as_tensor else 4
    losses = [
        cross_entropy(parts[half], target[half], num_items=items, **options)
        for half in (slice(0, 2), slice(2, 4), slice(4, 6))
    ]
    torch.testing.assert_close(sum(losses), expected)
    expected.backward()
    sum(losses).backward()
    torch.testing.assert_close(parts.grad, whole.grad, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    ("dtype", "logit_scale", "softcap"),
    [(torch.float32, 1.0, 0.0), (torch.bfloat16, 0.5, 5.0), (torch.float16, 2.0, 0.0)],
)
def test_classes_in_shards(dtype, logit_scale, softcap):
    """Partials of ranges of classes, combined: what a vocabulary spread over devices does."""
    logits, target = make(6, 50, dtype=dtype)
    target[:] = torch.tensor([0, 19, 20, 49, -100, 50])
    logits[2, :20] = -math.inf
    weight = torch.linspace(0.1, 2.0, 50, device=DEVICE)
    options = RowOptions(logit_scale=logit_scale, softcap=softcap, label_smoothing=0.1)
    rows = operator.implementation(logits)
    shards = [slice(0, 20), slice(20, 50)]
    partials = [
        rows.row_partials(
            logits[:, shard],
            target,
            weight[shard],
            options,
            argmax=True,
            first_class=shard.start,
        )
        for shard in shards
    ]
    merged = rows.combine(torch.cat(partials), target, options, argmax=True, classes=50)
    whole = rows.combine(
        rows.row_partials(logits, target, weight, options, argmax=True, first_class=0),
        target,
        options,
        argmax=True,
        classes=50,
    )
    assert whole.losses.isnan().tolist() == [False] * 5 + [True]
    assert whole.losses[4] == 0
    for ours, theirs in zip(merged, whole, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5, equal_nan=True)
    grad_losses = torch.linspace(-1.0, 1.0, 6, device=DEVICE)
    out = [torch.empty_like(logits) for _ in range(2)]
    arguments = (target, weight, whole.statistics, options)
    rows.row_gradient(out[0], grad_losses, None, logits, *arguments, first_class=0, classes=50)
    for shard in shards:
        rows.row_gradient(
            out[1][:, shard],
            grad_losses,
            None,
            logits[:, shard],
            target,
            weight[shard],
            whole.statistics,
            options,
            first_class=shard.start,
            classes=50,
        )
    torch.testing.assert_close(out[1], out[0], rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("argmax", [False, True])
@on_kernels_only
def test_few_rows_are_split_into_parts(argmax, monkeypatch):
    fused = pytest.importorskip("precision_lint.runtime.cross_entropy_triton")
    logits, target = make(2, 100)
    target[:] = torch.tensor([99, 5])
    options = RowOptions(label_smoothing=0.1)
    one = fused.row_losses(logits, target, None, options, argmax=argmax)
    monkeypatch.setattr(fused, "_processors", lambda device: 1)
    partials = fused.row_partials(logits, target, None, options, argmax=argmax, first_class=0)
    assert len(partials) == 4  # 2 rows x 4 parts of 2 blocks, the last of 1
    whole = fused.row_partials(
        logits, target, None, options, argmax=argmax, first_class=0, one_part=True
    )
    assert len(whole) == 1
    merged = fused.combine(whole, target, options, argmax=argmax, classes=100)
    for ours, theirs in zip(merged, one, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
    split = fused.row_losses(logits, target, None, options, argmax=argmax)
    for ours, theirs in zip(split, one, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("label", [20, -1])
def test_labels_are_checked_on_request(label):
    logits, target = make(3, 20)
    target[:] = torch.tensor([-100, label, 3])
    with pytest.raises(IndexError, match=f"label {label} of position 1 .* 20 classes"):
        cross_entropy(logits, target, check_labels=True)
    target[1] = 19
    cross_entropy(logits, target, check_labels=True)


def test_inplace_gives_the_same_gradient():
    logits, target = make(4, 50, dtype=torch.bfloat16)
    target[1] = -100
    options = {"softcap": 5.0, "label_smoothing": 0.1, "logit_scale": 0.5}
    x, y = leaf(logits, torch.bfloat16), leaf(logits, torch.bfloat16)
    cross_entropy(x, target, **options).backward()
    cross_entropy(y * 1, target, inplace=True, **options).backward()
    torch.testing.assert_close(y.grad, x.grad, rtol=0, atol=0)


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
        ({"label_smoothing": 1.1}, ValueError),
        ({"label_smoothing": -0.1}, ValueError),
        ({"z_loss": -1.0}, ValueError),
        ({"num_items": 3, "reduction": "sum"}, ValueError),
        ({"num_items": torch.ones(2)}, ValueError),
        ({"weight": torch.ones(2)}, ValueError),
        ({"weight": torch.ones(3, dtype=torch.long)}, TypeError),
        ({"weight": torch.ones(3, requires_grad=True)}, ValueError),
        ({"weight": torch.ones(3, device="meta")}, ValueError),
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
def test_float64_stays_float64():
    logits, target = make(3, 5, dtype=torch.float64)
    target[1] = -100

    def loss(x):
        return cross_entropy(x, target, logit_scale=0.5, softcap=4.0)

    x = logits.requires_grad_()
    assert loss(x).dtype == torch.float64
    assert torch.autograd.gradcheck(loss, x)


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
