"""The loss of a linear layer against float64, and its operators inside PyTorch."""

from __future__ import annotations

import itertools
import math

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from precision_lint.runtime import cross_entropy, linear_cross_entropy, matmul  # noqa: E402
from precision_lint.runtime import cross_entropy_torch as torch_path  # noqa: E402
from precision_lint.runtime import linear_cross_entropy_operator as operator  # noqa: E402
from tests.runtime.cross_entropy_checks import (  # noqa: E402
    DEVICE,
    INTERPRETED,
    leaf,
    reference,
    ulps_apart,
)

pytestmark = pytest.mark.usefixtures("small_blocks")

HALF = (torch.bfloat16, torch.float16)
DTYPES = (torch.float32, *HALF)
NAMES = ("hidden", "weight", "bias")

# What the interpreter would repeat slowly without reaching another line of the kernels.
on_torch_only = pytest.mark.skipif(INTERPRETED, reason="not about the kernels")
on_cpu_only = pytest.mark.skipif(INTERPRETED or DEVICE != "cpu", reason="about CPUs")


def make(*shape, classes=20, width=8, dtype=torch.float32, seed=0):
    """Hidden states, weight and bias that ask for gradients, and labels."""
    generator = torch.Generator().manual_seed(seed)

    def parameter(*shape):
        values = torch.randn(shape, generator=generator)
        return values.to(DEVICE, dtype).requires_grad_()

    target = torch.randint(classes, shape, generator=generator).to(DEVICE)
    return (parameter(*shape, width), parameter(classes, width), parameter(classes)), target


def exact(parameters, target, *, class_weight=None, dtype=None, **options):
    """Loss and float64 copies of the parameters, rounded to ``dtype`` before use if given."""
    copies = [leaf(p if dtype is None else p.to(dtype), torch.float64) for p in parameters]
    hidden, weight, *bias = copies
    z = F.linear(hidden, weight, *bias)
    if z.dim() > 2:
        z = z.movedim(-1, 1)
    return reference(z, target, weight=class_weight, **options), copies


def gradients(loss, parameters, upstream=None, **kwargs):
    upstream = torch.ones_like(loss) if upstream is None else upstream.to(loss.dtype)
    return torch.autograd.grad(loss, parameters, upstream, **kwargs)


def assert_gradient(grad, expected):
    """Within one ulp of the correctly rounded gradient; 1e-6 where terms of size 1 cancel.

    On a GPU the gradient of the logits is rounded to the operands' half dtype.
    """
    rounding = 1e-6
    if DEVICE == "cuda" and grad.dtype in HALF:
        rounding = torch.finfo(grad.dtype).eps
    near = (grad.double() - expected).abs() <= rounding * expected.abs().max().clamp(min=1.0)
    if grad.dtype in HALF:
        near |= ulps_apart(grad, expected.to(grad.dtype)) <= 1
    near |= grad.isnan() & expected.isnan()
    assert near.all(), (grad[~near], expected[~near])


def assert_matches(parameters, target, upstream=None, bias=True, chunk_rows=None, **options):
    """Loss and gradients agree with float64."""
    parameters = parameters if bias else parameters[:2]
    hidden, weight, *rest = parameters
    loss = linear_cross_entropy(
        hidden, weight, target, bias=rest[0] if rest else None, chunk_rows=chunk_rows, **options
    )
    expected, copies = exact(parameters, target, **options)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=1e-6, equal_nan=True)
    expected = gradients(expected, copies, upstream)
    for grad, parameter, right in zip(
        gradients(loss, parameters, upstream), parameters, expected, strict=True
    ):
        assert grad.dtype == parameter.dtype
        assert_gradient(grad, right)


OPTIONS = (
    {},
    {"label_smoothing": 0.1, "weighted": True},
    {"softcap": 5.0, "logit_scale": 0.5, "z_loss": 1e-2, "num_items": 5},
    {"reduction": "sum", "logit_scale": -2.0, "z_loss": 1e-3},
    {"reduction": "none", "softcap": 3.0, "label_smoothing": 0.2, "weighted": True},
)


def keywords(options, classes=20):
    options = dict(options)
    if options.pop("weighted", False):
        options["class_weight"] = torch.linspace(0.0, 2.0, classes, device=DEVICE)
    return options


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("chunk_rows", [1, 3, 7, None])
def test_grid(dtype, options, chunk_rows):
    if INTERPRETED and (chunk_rows != 3 or dtype in HALF):
        pytest.skip("nothing new to a kernel")
    parameters, target = make(7, dtype=dtype)
    target[1] = -100
    assert_matches(parameters, target, chunk_rows=chunk_rows, **keywords(options))


@on_cpu_only
def test_rows_of_a_chunk_by_default(monkeypatch):
    heights = []

    def linear(x, *others):
        heights.append(x.shape[0])
        return matmul.linear(x, *others)

    monkeypatch.setattr(operator, "linear", linear)
    monkeypatch.setattr(operator, "CPU_ROWS", 2)
    monkeypatch.setattr(operator, "CPU_ELEMENTS", 3 * 20)
    assert_matches(*make(7))
    assert heights == [3, 3, 1] * 2  # forward and backward
    heights.clear()
    assert_matches(*make(3, classes=31))
    assert heights == [2, 1] * 2


@on_torch_only
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 2, 2), (0,), (2, 0)], ids=str)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_shapes(shape, bias, reduction):
    parameters, target = make(*shape)
    loss = linear_cross_entropy(*parameters[:2], target, reduction=reduction)
    assert loss.shape == (() if reduction == "mean" else shape)
    if target.numel():
        assert_matches(parameters, target, bias=bias, reduction=reduction, chunk_rows=2)


@on_torch_only
def test_empty_batch():
    parameters, target = make(0)
    assert linear_cross_entropy(*parameters[:2], target).isnan()
    loss = linear_cross_entropy(*parameters[:2], target, bias=parameters[2], reduction="sum")
    for grad, parameter in zip(gradients(loss, parameters), parameters, strict=True):
        assert grad.shape == parameter.shape
        assert not grad.any()


@on_torch_only
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_strides(dtype):
    (hidden, weight, bias), target = make(6, dtype=dtype)
    views = (
        hidden.detach().t().contiguous().t(),
        torch.stack([weight.detach()] * 2, 1)[:, 0],
        bias.detach()[:1].expand(20),
    )
    upstream = torch.tensor(0.5, device=DEVICE).expand(6)
    views = [view.requires_grad_() for view in views]
    assert_matches(views, target, upstream, reduction="none", chunk_rows=4)


@on_cpu_only
@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_upcast_in_several_tiles(dtype, monkeypatch):
    parameters, target = make(5, dtype=dtype)
    monkeypatch.setattr(matmul, "UPCAST_TILE", 3 * 8)
    assert_matches(parameters, target, chunk_rows=2, label_smoothing=0.1)


@on_torch_only
def test_all_results_are_those_of_the_two_steps():
    (hidden, weight, bias), target = make(2, 5, dtype=torch.float64)
    target[0, 1] = -100
    asked = {f"return_{name}": True for name in ("lse", "z_loss", "accuracy", "argmax")}
    asked["z_loss"] = 0.1
    ours = linear_cross_entropy(hidden, weight, target, bias=bias, chunk_rows=4, **asked)
    logits = F.linear(hidden, weight, bias).movedim(-1, 1)
    for got, expected in zip(ours, cross_entropy(logits, target, **asked), strict=True):
        torch.testing.assert_close(got, expected)


@on_torch_only
def test_gradient_of_the_lse():
    parameters, target = make(5, dtype=torch.float64)
    hidden, weight, bias = parameters
    out = linear_cross_entropy(hidden, weight, target, bias=bias, chunk_rows=2, return_lse=True)
    logits = F.linear(*parameters)
    expected = F.cross_entropy(logits, target) + logits.logsumexp(1).square().sum()
    ours = gradients(out.loss + out.lse.square().sum(), parameters, retain_graph=True)
    torch.testing.assert_close(ours, gradients(expected, parameters, retain_graph=True))
    (alone,) = gradients(out.lse.sum(), [hidden])
    torch.testing.assert_close(alone, gradients(logits.logsumexp(1).sum(), [hidden])[0])


@on_cpu_only
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_gradcheck(options):
    parameters, target = make(4, classes=6, width=3, dtype=torch.float64)
    target[1] = -100
    options = keywords(options, classes=6)

    def loss(hidden, weight, bias):
        return linear_cross_entropy(hidden, weight, target, bias=bias, chunk_rows=3, **options)

    assert torch.autograd.gradcheck(loss, parameters)


@on_torch_only
@pytest.mark.parametrize(("dtype", "rows"), [(torch.bfloat16, 300), (torch.float16, 2400)], ids=str)
def test_many_chunks_are_summed_in_float32(dtype, rows):
    """Two classes, tokens that each add -1/2 and 1/2: half sums stop after 2^8 or 2^11 of them."""
    weight = torch.zeros(2, 1, dtype=dtype, device=DEVICE, requires_grad=True)
    hidden = torch.ones(rows, 1, dtype=dtype, device=DEVICE)
    target = torch.zeros(rows, dtype=torch.long, device=DEVICE)
    bias = torch.zeros(2, dtype=dtype, device=DEVICE, requires_grad=True)
    loss = linear_cross_entropy(hidden, weight, target, bias=bias, reduction="sum", chunk_rows=1)
    right = [-rows / 2, rows / 2]
    grad_weight, grad_bias = gradients(loss, (weight, bias))
    assert grad_weight.flatten().tolist() == right
    assert grad_bias.tolist() == right

    stuck = torch.zeros((), dtype=dtype)
    for _ in range(rows):
        stuck += 0.5
    assert stuck < rows / 2


def with_products(monkeypatch, out_dtype):
    """CPU products as a GPU has them, with ``out_dtype`` or without."""
    monkeypatch.setattr(matmul, "operand_dtype", lambda dtype, device: dtype)
    monkeypatch.setattr(operator, "operand_dtype", lambda dtype, device: dtype)
    if not out_dtype:
        return
    mm, addmm = torch.mm, torch.addmm
    monkeypatch.setattr(matmul, "_returns_float32", lambda operand: operand.dtype in HALF)
    monkeypatch.setattr(
        torch, "mm", lambda a, b, *, out_dtype: mm(a.to(out_dtype), b.to(out_dtype))
    )
    monkeypatch.setattr(
        torch,
        "addmm",
        lambda c, a, b, *, out_dtype, out: addmm(c, a.to(out_dtype), b.to(out_dtype), out=out),
    )


@pytest.mark.skipif(DEVICE != "cpu", reason="imitates another device on the CPU")
@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("out_dtype", [False, True])
def test_products_of_other_devices(dtype, out_dtype, monkeypatch):
    parameters, target = make(16, dtype=dtype)
    options = {"softcap": 5.0, "label_smoothing": 0.1, "reduction": "sum"}
    with_products(monkeypatch, out_dtype)
    hidden, weight, bias = parameters
    loss = linear_cross_entropy(hidden, weight, target, bias=bias, chunk_rows=3, **options)
    ours = gradients(loss, parameters)
    expected, copies = exact(parameters, target, **options)
    # float32 logits where the product returns them; the gradient of the logits is half on both.
    tolerance = 1e-6 if out_dtype else 1e-2
    torch.testing.assert_close(loss.double(), expected, rtol=tolerance, atol=0)
    # The interpreter cuts digits off where a GPU rounds.
    units = 0.5 if out_dtype and not INTERPRETED else 1.0
    for grad, right in zip(ours, gradients(expected, copies), strict=True):
        assert grad.dtype == dtype
        error = (grad.double() - right).norm() / right.norm()
        assert error < torch.finfo(dtype).eps * units


@on_torch_only
def test_ignored_positions_leak_nothing():
    parameters, target = make(5)
    hidden, weight, bias = (p.detach() for p in parameters)
    hidden[2], target[2] = math.nan, -100
    parameters = [p.requires_grad_() for p in (hidden, weight, bias)]
    loss = linear_cross_entropy(hidden, weight, target, bias=bias, chunk_rows=2)
    assert loss.isfinite()
    grads = gradients(loss, parameters)
    assert all(grad.isfinite().all() for grad in grads)
    assert not grads[0][2].any()


@on_torch_only
def test_all_ignored():
    parameters, target = make(3)
    target.fill_(-100)
    hidden, weight, bias = parameters
    assert linear_cross_entropy(hidden, weight, target, bias=bias).isnan()
    loss = linear_cross_entropy(hidden, weight, target, bias=bias, reduction="sum")
    assert loss == 0
    assert not any(grad.any() for grad in gradients(loss, parameters))


@on_torch_only
@pytest.mark.parametrize("check_labels", [False, True])
def test_labels_out_of_range(check_labels):
    (hidden, weight, _), target = make(6)
    target[4] = 20
    if DEVICE == "cpu" or check_labels:
        with pytest.raises(IndexError, match="label 20 of position 4"):
            linear_cross_entropy(hidden, weight, target, chunk_rows=2, check_labels=check_labels)
    else:
        assert linear_cross_entropy(hidden, weight, target, chunk_rows=2).isnan()


@on_torch_only
@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_autocast(dtype):
    """Operands in half as ``F.linear`` has them; float32 parameters get unrounded gradients."""
    parameters, target = make(6)
    hidden, weight, bias = parameters
    with torch.autocast(DEVICE, dtype=dtype):
        loss = linear_cross_entropy(hidden, weight, target, bias=bias, chunk_rows=4)
        inside = gradients(loss, parameters, retain_graph=True)
    expected, copies = exact(parameters, target, dtype=dtype)
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=0)
    right = gradients(expected, copies)
    rounding = 1e-6 if DEVICE == "cpu" else torch.finfo(dtype).eps
    for grads in (inside, gradients(loss, parameters)):
        for grad, exactly in zip(grads, right, strict=True):
            assert grad.dtype == torch.float32
            error = (grad.double() - exactly).abs().max() / exactly.abs().max()
            assert error < rounding


@on_torch_only
def test_autocast_around_the_backward_pass_alone():
    parameters, target = make(6)
    hidden, weight, bias = parameters
    loss = linear_cross_entropy(hidden, weight, target, bias=bias, chunk_rows=4)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        inside = gradients(loss, parameters, retain_graph=True)
    torch.testing.assert_close(inside, gradients(loss, parameters), rtol=0, atol=0)


@on_torch_only
def test_autocast_of_mixed_dtypes():
    (hidden, weight, _), target = make(6)
    half = hidden.detach().bfloat16().requires_grad_()
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        loss = linear_cross_entropy(half, weight, target)
        grads = gradients(loss, (half, weight))
        assert [grad.dtype for grad in grads] == [torch.bfloat16, torch.float32]
        double = linear_cross_entropy(hidden.double(), weight.double(), target)
        assert double.dtype == torch.float64
        with pytest.raises(RuntimeError, match="same dtype"):
            linear_cross_entropy(hidden.double(), weight, target)
    torch.testing.assert_close(double, linear_cross_entropy(hidden, weight, target).double())


def allocations(work):
    """The bytes that ``work`` took from the allocator, and gave back (negative), in order."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        work()
    events = [e for e in profiled.profiler.kineto_results.events() if e.name() == "[memory]"]
    return [e.nbytes() for e in sorted(events, key=lambda e: e.start_ns())]


@on_cpu_only
@pytest.mark.parametrize(
    ("dtype", "width"), [(torch.float32, 4), (torch.bfloat16, 4), (torch.bfloat16, 64)], ids=str
)
def test_the_logits_are_never_there(dtype, width, monkeypatch):
    rows, classes, chunk = 256, 1000, 32
    monkeypatch.setattr(matmul, "UPCAST_TILE", classes)
    monkeypatch.setattr(torch_path, "CPU_CHUNK", 2 * classes)
    parameters, target = make(rows, classes=classes, width=width, dtype=dtype)
    hidden, weight, bias = parameters
    # A weight larger than a chunk's logits is frozen, so that they are the largest tensor still.
    weight.requires_grad_(width < chunk)

    def work():
        loss = linear_cross_entropy(hidden, weight, target, bias=bias, chunk_rows=chunk)
        gradients(loss, [p for p in parameters if p.requires_grad])

    taken = allocations(work)
    logits = chunk * classes * 4
    assert max(taken) == logits
    # The logits of one chunk are freed before those of the next are made.
    assert max(itertools.accumulate(taken)) < 1.9 * logits


@on_cpu_only
@pytest.mark.parametrize("frozen", NAMES)
def test_frozen_parameters_cost_nothing(frozen):
    parameters, target = make(3, classes=500, width=60)
    sizes = {name: p.numel() * 4 for name, p in zip(NAMES, parameters, strict=True)}
    learned = [p for name, p in zip(NAMES, parameters, strict=True) if name != frozen]
    hidden, weight, bias = parameters
    parameters[NAMES.index(frozen)].requires_grad_(False)
    loss = linear_cross_entropy(hidden, weight, target, bias=bias)
    grads = []
    taken = allocations(lambda: grads.extend(gradients(loss, learned)))
    expected, copies = exact(parameters, target)
    right = [c for name, c in zip(NAMES, copies, strict=True) if name != frozen]
    for grad, exactly in zip(grads, gradients(expected, right), strict=True):
        assert_gradient(grad, exactly)
    if frozen == "weight":
        assert max(taken) < sizes["weight"]


@on_torch_only
def test_double_use_checkpoint_and_second_backward():
    parameters, target = make(5)
    hidden, weight, bias = parameters

    def loss_of(hidden):
        return linear_cross_entropy(2 * hidden, weight, target, bias=bias, chunk_rows=2)

    loss = loss_of(hidden) + hidden.square().sum()
    first = gradients(loss, parameters, retain_graph=True)
    torch.testing.assert_close(gradients(loss, parameters), first, rtol=0, atol=0)
    again = checkpoint(loss_of, hidden, use_reentrant=False) + hidden.square().sum()
    torch.testing.assert_close(gradients(again, parameters), first)


@on_torch_only
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients(mode):
    (hidden, weight, bias), target = make(5)
    with mode():
        loss = linear_cross_entropy(hidden, weight, target, bias=bias)
    assert not loss.requires_grad
    torch.testing.assert_close(loss, F.cross_entropy(F.linear(hidden, weight, bias), target))


@on_torch_only
def test_meta_device():
    hidden, weight = (torch.empty(n, 8, device="meta", requires_grad=True) for n in (5, 20))
    loss = linear_cross_entropy(hidden, weight, torch.empty(5, device="meta", dtype=torch.long))
    loss.backward()
    assert loss.dtype == torch.float32
    assert weight.grad.shape == (20, 8)


def operator_arguments(dtype, bias, *, weighted):
    (hidden, weight, offset), target = make(5, dtype=dtype)
    target[1] = -100
    class_weight = torch.rand(20, dtype=torch.promote_types(dtype, torch.float32))
    return (
        *(hidden, weight, offset if bias else None, target, class_weight if weighted else None),
        *(dtype, 2, -100, 0.5, 5.0, 0.1),
    )


@on_cpu_only
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("bias", [False, True])
def test_opcheck_of_the_loss(dtype, bias):
    arguments = operator_arguments(dtype, bias, weighted=bias)
    operator = torch.ops.precision_lint.linear_cross_entropy_rows.default
    torch.library.opcheck(operator, (*arguments, bias, True))


@on_cpu_only
@pytest.mark.parametrize("wanted", [(True, True, True), (True, False, False), (False, True, False)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_opcheck_of_the_gradient(wanted, dtype):
    arguments = operator_arguments(dtype, True, weighted=False)
    operators = torch.ops.precision_lint
    *_, statistics = operators.linear_cross_entropy_rows(*arguments, False, False)
    tensors, rest = arguments[:5], arguments[5:]
    tensors = [None if t is None else t.detach() for t in tensors]
    torch.library.opcheck(
        operators.linear_cross_entropy_rows_gradient.default,
        (torch.ones(5), None, *tensors, statistics.detach(), *rest, *wanted),
    )


@on_cpu_only
@pytest.mark.parametrize(
    ("backend", "dtype"),
    [("inductor", None), ("aot_eager", torch.bfloat16)],
    ids=str,
)
def test_compiled_whole(backend, dtype):
    parameters, target = make(5)
    hidden, weight, bias = parameters

    def loss_of(hidden):
        with torch.autocast("cpu", dtype=dtype, enabled=dtype is not None):
            return linear_cross_entropy(
                hidden * 1.0, weight, target, bias=bias, softcap=5.0, z_loss=0.1, chunk_rows=2
            )

    loss = torch.compile(loss_of, fullgraph=True, backend=backend)(hidden)
    expected = loss_of(hidden)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(gradients(loss, parameters), gradients(expected, parameters))


@on_cpu_only
def test_compiled_for_any_batch_and_chunk():
    @torch.compile(fullgraph=True, dynamic=True, backend="aot_eager")
    def compiled(hidden, weight, target, chunk_rows):
        return linear_cross_entropy(
            hidden, weight, target, chunk_rows=chunk_rows, return_argmax=True, return_lse=True
        )

    for rows in (3, 5, 8):
        (hidden, weight, _), target = make(rows)
        out = compiled(hidden, weight, target, rows - 1)
        plain = cross_entropy(F.linear(hidden, weight), target, return_argmax=True)
        torch.testing.assert_close(out.loss, plain.loss)
        assert out.argmax.tolist() == plain.argmax.tolist()
        ours = gradients(out.loss, (hidden, weight))
        torch.testing.assert_close(ours, gradients(plain.loss, (hidden, weight)))


@on_torch_only
def test_refusals():
    (hidden, weight, bias), target = make(5)
    with pytest.raises(RuntimeError, match=r"does not run under torch\.vmap"):
        torch.vmap(lambda h, t: linear_cross_entropy(h, weight, t))(hidden[None], target[None])
    for at in range(3):
        parameters = (hidden, weight, bias)

        def loss(parameter, at=at, parameters=parameters):
            h, w, b = (*parameters[:at], parameter, *parameters[at + 1 :])
            return linear_cross_entropy(h, w, target, bias=b)

        with pytest.raises(RuntimeError, match="no forward-mode derivative"):
            torch.func.jvp(loss, (parameters[at],), (torch.ones_like(parameters[at]),))
        with pytest.raises(RuntimeError, match=r"torch\.func\.grad"):
            torch.func.grad(loss)(parameters[at])
        (grad,) = gradients(loss(parameters[at]), [parameters[at]], create_graph=True)
        with pytest.raises(RuntimeError, match="differentiable once"):
            grad.sum().backward()


@on_torch_only
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"hidden": torch.zeros(5, 8, dtype=torch.int8)}, TypeError, "hidden must be bfloat16"),
        ({"weight": torch.zeros(20, 8).half()}, RuntimeError, "must have the same dtype"),
        ({"bias": torch.zeros(20).half()}, RuntimeError, "must have the same dtype"),
        ({"hidden": torch.zeros(5, 7)}, ValueError, r"hidden is of shape \(\.\.\., 8\)"),
        ({"hidden": torch.tensor(1.0)}, ValueError, r"hidden is of shape \(\.\.\., 8\)"),
        ({"hidden": torch.zeros(4, 8)}, ValueError, r"needs a target of shape \(4,\)"),
        ({"weight": torch.zeros(8)}, ValueError, r"weight is of shape \(classes, width\)"),
        ({"weight": torch.zeros(0, 8)}, ValueError, r"weight is of shape \(classes, width\)"),
        ({"bias": torch.zeros(19)}, ValueError, r"20 classes need a bias of shape \(20,\)"),
        ({"target": torch.zeros(5, 20)}, TypeError, "class indices"),
        ({"target": torch.zeros(5, dtype=torch.int32)}, RuntimeError, "Long or Byte"),
        ({"class_weight": torch.zeros(19)}, ValueError, "20 classes need a class_weight"),
        ({"class_weight": torch.zeros(20).int()}, TypeError, "class_weight must be floating"),
        ({"chunk_rows": 0}, ValueError, "chunk_rows must be at least 1"),
        ({"label_smoothing": 1.1}, ValueError, "at most 1"),
        ({"softcap": torch.tensor(1.0)}, TypeError, "Python number"),
        ({"reduction": "avg"}, ValueError, "reduction is one of"),
        ({"weight": torch.empty(20, 8, device="meta")}, ValueError, "weight is on meta"),
    ],
    ids=str,
)
def test_errors(change, error, message):
    (hidden, weight, bias), target = make(5)
    arguments = {"hidden": hidden, "weight": weight, "target": target, "bias": bias}
    change = {
        name: value.to(DEVICE) if isinstance(value, torch.Tensor) and not value.is_meta else value
        for name, value in change.items()
    }
    with pytest.raises(error, match=message):
        linear_cross_entropy(**{**arguments, **change})


@on_cpu_only
def test_sharded_weight_is_refused():
    distributed = pytest.importorskip("torch.distributed")
    tensor = pytest.importorskip("torch.distributed.tensor")
    (hidden, weight, _), target = make(5)
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        mesh = tensor.init_device_mesh("cpu", (1,))
        sharded = tensor.distribute_tensor(weight.detach(), mesh, [tensor.Shard(0)])
        with pytest.raises(TypeError, match=r"weight is a DTensor.*full_tensor"):
            linear_cross_entropy(hidden, sharded, target)
    finally:
        distributed.destroy_process_group()


@st.composite
def problems(draw):
    classes = draw(st.integers(1, 24))
    shape = draw(st.sampled_from([(), (1,), (4,), (2, 3)]))
    dtype = draw(st.sampled_from(DTYPES))
    width, seed = draw(st.integers(1, 6)), draw(st.integers(0, 99))
    parameters, target = make(*shape, classes=classes, width=width, dtype=dtype, seed=seed)
    ignored = draw(st.sampled_from([-100, 0, classes - 1]))
    if target.dim() and draw(st.booleans()):
        target[::2] = ignored
    reduction = draw(st.sampled_from(["mean", "sum", "none"]))
    options = {
        "ignore_index": ignored,
        "reduction": reduction,
        "label_smoothing": draw(st.sampled_from([0.0, 0.1, 1.0])),
        "logit_scale": draw(st.sampled_from([1.0, 0.5, -1.0])),
        "softcap": draw(st.sampled_from([0.0, 0.0, 10.0])),
        "z_loss": draw(st.sampled_from([0.0, 0.01])),
        "num_items": draw(st.sampled_from([None, 7])) if reduction == "mean" else None,
        "bias": draw(st.booleans()),
        "chunk_rows": draw(st.sampled_from([1, 2, 5, None])),
    }
    return parameters, target, options | keywords({"weighted": draw(st.booleans())}, classes)


@settings(max_examples=10 if INTERPRETED else 100, deadline=None, derandomize=True)
@given(problems())
def test_any_problem(problem):
    parameters, target, options = problem
    assert_matches(parameters, target, **options)
