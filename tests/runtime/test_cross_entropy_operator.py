"""The operator inside PyTorch: registration, compilation, autograd's corner cases, memory.

All of it on the torch path: what these tests hold is the same for every device.
"""

from __future__ import annotations

import copy
import itertools

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from precision_lint.runtime import CrossEntropyLoss, cross_entropy  # noqa: E402
from precision_lint.runtime import cross_entropy_torch as torch_path  # noqa: E402

OPTIONS = (
    {},
    {"reduction": "none"},
    {"reduction": "sum", "label_smoothing": 0.1, "weighted": True},
    {"softcap": 5.0, "logit_scale": 0.5, "z_loss": 1e-2, "num_items": 7},
)


def batch(dtype=torch.float32, rows=4, classes=20):
    generator = torch.Generator().manual_seed(0)
    logits = (3 * torch.randn(rows, classes, generator=generator)).to(dtype)
    target = torch.randint(classes, (rows,), generator=generator)
    target[1] = -100
    return logits.requires_grad_(), target


def keywords(options):
    options = dict(options)
    if options.pop("weighted", False):
        options["weight"] = torch.linspace(0.1, 2.0, 20)
    return options


def gradient(loss, logits, **kwargs):
    (grad,) = torch.autograd.grad(loss, logits, torch.ones_like(loss), **kwargs)
    return grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("argmax", [False, True])
def test_opcheck_of_the_loss(dtype, weighted, argmax):
    logits, target = batch(dtype)
    weight = torch.rand(20) if weighted else None
    options = (-100, 0.5, 5.0, 0.1 if weighted else 0.0)
    arguments = (logits, target, weight, *options, argmax, False, True)
    torch.library.opcheck(torch.ops.precision_lint.cross_entropy_rows.default, arguments)


@pytest.mark.parametrize("name", ["cross_entropy_rows_gradient", "cross_entropy_rows_gradient_"])
def test_opcheck_of_the_gradient(name):
    logits, target = batch()
    operators = torch.ops.precision_lint
    options = (-100, 1.0, 0.0, 0.0)
    *_, statistics = operators.cross_entropy_rows(
        logits, target, None, *options, False, False, False
    )
    saved = (logits.detach(), target, None, statistics.detach())
    for shard in ((), (20, 60)):
        arguments = (torch.ones(4), None, *saved, *options, *shard)
        torch.library.opcheck(getattr(operators, name).default, arguments)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_compiled_whole(options, dtype):
    logits, target = batch(dtype)
    kwargs = keywords(options)

    def loss(x):
        return cross_entropy(x * 1.0, target, **kwargs)

    compiled = torch.compile(loss, fullgraph=True)(logits)
    torch.testing.assert_close(compiled, loss(logits))
    torch.testing.assert_close(gradient(compiled, logits), gradient(loss(logits), logits))


def test_compiled_with_every_result_and_any_batch_size():
    @torch.compile(fullgraph=True, dynamic=True)
    def compiled(logits, target):
        return cross_entropy(
            logits,
            target,
            return_lse=True,
            return_z_loss=True,
            return_accuracy=True,
            return_argmax=True,
            z_loss=0.1,
            inplace=True,
            check_labels=True,
        )

    for rows in (2, 3, 5):
        logits, target = batch(rows=rows)
        out = compiled(logits, target)
        plain = cross_entropy(logits, target, return_lse=True, return_argmax=True, z_loss=0.1)
        torch.testing.assert_close(out.loss, plain.loss)
        torch.testing.assert_close(out.lse, plain.lse)
        assert out.argmax.tolist() == plain.argmax.tolist()
        kept = logits.detach().clone()
        out.loss.backward()
        torch.testing.assert_close(logits.detach(), kept, rtol=0, atol=0)


def test_compiled_module():
    module = CrossEntropyLoss(torch.rand(20), label_smoothing=0.1)
    logits, target = batch()
    compiled = torch.compile(module, fullgraph=True)
    torch.testing.assert_close(compiled(logits, target), module(logits, target))


def test_module_is_the_function():
    weight = torch.rand(20)
    options = {"label_smoothing": 0.1, "softcap": 4.0, "z_loss": 0.1, "reduction": "mean"}
    module = CrossEntropyLoss(weight, **options)
    logits, target = batch()
    expected = cross_entropy(logits, target, weight=weight, num_items=3, **options)
    torch.testing.assert_close(module(logits, target, num_items=3), expected)
    assert list(module.state_dict()) == ["weight"]
    assert copy.deepcopy(module).double().weight.dtype == torch.float64


def test_gradient_checkpointing():
    logits, target = batch()
    loss = checkpoint(lambda x: cross_entropy(2 * x, target), logits, use_reentrant=False)
    expected = cross_entropy(2 * logits, target)
    torch.testing.assert_close(gradient(loss, logits), gradient(expected, logits))


def test_retained_graph_gives_the_same_gradient_again():
    logits, target = batch()
    loss = cross_entropy(logits, target)
    first = gradient(loss, logits, retain_graph=True)
    torch.testing.assert_close(gradient(loss, logits), first, rtol=0, atol=0)


def test_vmap_is_refused():
    logits, target = torch.randn(2, 4, 20), torch.zeros(2, 4, dtype=torch.long)
    with pytest.raises(RuntimeError, match=r"does not run under torch\.vmap"):
        torch.vmap(cross_entropy)(logits, target)


def test_forward_mode_is_refused():
    logits, target = batch()
    with pytest.raises(RuntimeError, match="no forward-mode derivative"):
        torch.func.jvp(lambda x: cross_entropy(x, target), (logits,), (torch.ones(4, 20),))


@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.jacrev, torch.func.hessian])
def test_function_transforms_are_refused(transform):
    logits, target = batch()
    with pytest.raises(RuntimeError, match=r"torch\.func\.grad, vjp or jacrev; use torch"):
        transform(lambda x: cross_entropy(x, target))(logits)


@pytest.mark.parametrize("inplace", [False, True])
def test_second_derivative_is_refused(inplace):
    logits, target = batch()
    loss = cross_entropy(logits, target, inplace=inplace)
    grad = gradient(loss, logits, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiable once"):
        grad.sum().backward()


def test_meta_device():
    logits = torch.empty(4, 20, device="meta", dtype=torch.bfloat16, requires_grad=True)
    target = torch.empty(4, device="meta", dtype=torch.long)
    loss = cross_entropy(logits, target, label_smoothing=0.1)
    loss.backward()
    assert loss.dtype == torch.float32
    assert logits.grad.shape == (4, 20)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_inplace_gradient_takes_the_logits_memory(dtype):
    weights, target = batch(dtype)
    logits = weights * 2
    places = []
    logits.register_hook(lambda grad: places.append(grad.data_ptr()))
    cross_entropy(logits, target, inplace=True).backward()
    assert places == [logits.data_ptr()]
    expected = gradient(cross_entropy(weights * 2, target), weights)
    torch.testing.assert_close(weights.grad, expected, rtol=0, atol=0)


def test_logits_are_not_written_before_backward_or_without_leave():
    weights, target = batch()
    for inplace in (False, True):
        logits = weights * 2
        before = logits.detach().clone()
        loss = cross_entropy(logits, target, inplace=inplace)
        torch.testing.assert_close(logits.detach(), before, rtol=0, atol=0)
    loss = cross_entropy(logits, target)
    loss.backward()
    torch.testing.assert_close(logits.detach(), before, rtol=0, atol=0)


def test_inplace_notices_a_second_backward():
    logits, target = batch()
    loss = cross_entropy(logits * 2, target, inplace=True)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_inplace_notices_another_use_of_the_logits():
    weights, target = batch()
    logits = weights * 2
    # Autograd computes the gradient of the later use first: of the loss, then of the square.
    squares = logits.square().sum()
    loss = squares + cross_entropy(logits, target, inplace=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_inplace_leaves_shared_memory_alone():
    row = torch.randn(1, 20, requires_grad=True)
    logits = row.expand(4, 20)
    target = torch.tensor([0, 1, 2, 3])
    before = row.detach().clone()
    grad = gradient(cross_entropy(logits, target, inplace=True), row)
    torch.testing.assert_close(row.detach(), before, rtol=0, atol=0)
    torch.testing.assert_close(grad, gradient(F.cross_entropy(logits, target), row))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_autocast_changes_nothing(dtype):
    logits, target = batch(dtype)
    options = {"softcap": 5.0, "label_smoothing": 0.1, "weight": torch.rand(20), "z_loss": 0.1}
    expected = cross_entropy(logits, target, **options)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = cross_entropy(logits, target, **options)
        grad = gradient(loss, logits)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected, rtol=0, atol=0)
    torch.testing.assert_close(grad, gradient(expected, logits), rtol=0, atol=0)


def peak_bytes(work):
    """The most bytes that the allocator had handed out at one time for ``work``."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        work()
    events = [e for e in profiled.profiler.kineto_results.events() if e.name() == "[memory]"]
    events.sort(key=lambda e: e.start_ns())
    return max(itertools.accumulate(e.nbytes() for e in events))


@pytest.mark.parametrize(
    "options",
    [{}, {"softcap": 5.0, "label_smoothing": 0.1, "logit_scale": 2.0, "weight": torch.ones(500)}],
    ids=["plain", "all"],
)
def test_memory_is_the_gradient_and_a_few_rows(options, monkeypatch):
    monkeypatch.setattr(torch_path, "CPU_CHUNK", 4 * 500)
    rows, classes = 400, 500
    logits = torch.randn(rows, classes, dtype=torch.bfloat16, requires_grad=True)
    target = torch.randint(classes, (rows,))
    held = logits.numel() * logits.element_size()
    peak = peak_bytes(lambda: gradient(cross_entropy(logits, target, **options), logits))
    assert held < peak < 1.4 * held
    copies = peak_bytes(lambda: gradient(F.cross_entropy(logits.float(), target), logits))
    assert copies > 5 * held

    def into_the_logits():
        gradient(cross_entropy(logits, target, inplace=True, **options), logits)

    assert peak_bytes(into_the_logits) < 0.4 * held
