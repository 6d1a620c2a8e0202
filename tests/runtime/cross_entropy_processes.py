"""Comparisons of a loss over several processes with that of one, run inside the processes.

`test_cross_entropy_parallel.py` starts them: a process takes seconds to start, so each world runs
all comparisons. They share no port: the processes meet in a file.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.utils.checkpoint import checkpoint

from precision_lint.runtime import CrossEntropyLoss, CrossEntropyOutput, cross_entropy
from precision_lint.runtime import cross_entropy_operator as operator
from precision_lint.runtime import cross_entropy_torch as torch_path
from tests.runtime.cross_entropy_checks import leaf, make

PASSED = "passed"
COMPARISONS: dict[str, Callable[[], None]] = {}
# They import the compiler, which takes each process seconds: two processes are enough for them.
OF_TWO_PROCESSES = ("checkpointed_gradients", "compiled_whole", "dtensor_compiled_whole")

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
# One rounding of the gradient's dtype; the statistics behind it may differ by one of float32.
RELATIVE = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 2**-10, torch.bfloat16: 2**-7}
EVERYTHING = dict.fromkeys(
    ("return_lse", "return_z_loss", "return_accuracy", "return_argmax"), True
)
SHARE = 6  # classes per process, unless they are uneven
OPTIONS = (
    {},
    {"reduction": "none", "z_loss": 0.1},
    {"reduction": "sum", "label_smoothing": 0.1, "weighted": True, **EVERYTHING},
    {"softcap": 5.0, "logit_scale": 0.5, "z_loss": 0.01, "num_items": 7, **EVERYTHING},
    {"label_smoothing": 1.0, "logit_scale": -1.0},
    {"weighted": True, "ignore_index": 2, **EVERYTHING},
)


def comparisons_of(world: int) -> list[str]:
    return [name for name in COMPARISONS if world == 2 or name not in OF_TWO_PROCESSES]


def run(rank: int, world: int, folder: str) -> None:
    """Runs all comparisons up to the first that fails, and writes what came of each."""
    torch.set_num_threads(1)
    torch_path.CPU_CHUNK = 20  # a few rows
    # Of this machine: a name of the host that nothing resolves must not matter.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")
    meeting = f"file://{folder}/meeting"
    limit = timedelta(seconds=300)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world, timeout=limit)
    results = {}
    for name in comparisons_of(world):
        try:
            COMPARISONS[name]()
        except (Exception, pytest.fail.Exception):
            results[name] = traceback.format_exc()
            break
        results[name] = PASSED
    Path(folder, f"{rank}.json").write_text(json.dumps(results))
    dist.destroy_process_group()


def compared(comparison: Callable[[], None]) -> Callable[[], None]:
    COMPARISONS[comparison.__name__] = comparison
    return comparison


def world():
    return dist.group.WORLD


def batch(rows=5, ignored=-100, **kwargs):
    """Logits of all classes, the same in every process, and labels of which one is ignored."""
    logits, target = make(rows, SHARE * dist.get_world_size(), **kwargs)
    target[1:2] = ignored
    return logits, target


def shard(values, dim=-1):
    return values.chunk(dist.get_world_size(), dim)[dist.get_rank()]


def results_of(output):
    return output if isinstance(output, CrossEntropyOutput) else CrossEntropyOutput(output)


def differentiate(output, x):
    """The gradient of the loss, of uneven weight per row, and of the lse if there is one."""
    loss, lse = output.loss, output.lse
    upstream = torch.linspace(0.5, 2.0, loss.numel(), dtype=loss.dtype).view(loss.shape)
    total = (loss * upstream).sum()
    total = total if lse is None else total + (lse * 0.1).sum()
    (grad,) = torch.autograd.grad(total, x)
    return grad


def assert_same(output, expected, grad, expected_grad):
    for ours, theirs in zip(output, expected, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6, equal_nan=True)
    torch.testing.assert_close(
        grad, expected_grad, rtol=RELATIVE[grad.dtype], atol=3e-7, equal_nan=True
    )


def assert_parallel(logits, target, *, weighted=False, part=None, loss=cross_entropy, **options):
    """The results of all shards together are those of the whole, in value and gradient."""
    class_dim = min(1, logits.dim() - 1)
    x = leaf(logits, logits.dtype)
    weight = torch.linspace(0.1, 2.0, logits.shape[class_dim]) if weighted else None
    expected = results_of(cross_entropy(x, target, weight=weight, **options))
    part = shard(logits, class_dim).detach() if part is None else part
    part.requires_grad_()
    weight = shard(weight) if weighted else None
    output = results_of(loss(part, target, weight=weight, process_group=world(), **options))
    expected_grad = shard(differentiate(expected, x), class_dim)
    assert_same(output, expected, differentiate(output, part), expected_grad)


@compared
def options_and_dtypes():
    for dtype in DTYPES:
        for options in OPTIONS:
            ignored = options.get("ignore_index", -100)
            assert_parallel(*batch(dtype=dtype, ignored=ignored), **options)


@compared
def shapes():
    classes = SHARE * dist.get_world_size()
    for shape in ((classes,), (3, classes), (2, classes, 3), (2, classes, 3, 2), (2, classes, 0)):
        for reduction in ("mean", "none"):
            assert_parallel(*make(*shape), reduction=reduction, **EVERYTHING)


@compared
def labels_of_every_process():
    classes = SHARE * dist.get_world_size()
    logits, _ = make(classes, classes)
    assert_parallel(logits, torch.arange(classes), reduction="none", weighted=True, **EVERYTHING)


@compared
def shards_at_minus_infinity():
    for masked in range(dist.get_world_size()):
        logits, target = make(SHARE * dist.get_world_size(), SHARE * dist.get_world_size())
        target = torch.arange(len(target))  # in the shard and outside
        logits[:, masked * SHARE : (masked + 1) * SHARE] = -torch.inf
        for label_smoothing in (0.0, 0.1):
            assert_parallel(
                logits, target, reduction="none", label_smoothing=label_smoothing, **EVERYTHING
            )


@compared
def rows_at_minus_infinity_and_not_finite():
    logits, target = batch()
    logits[0] = -torch.inf
    logits[2, 0] = torch.inf
    logits[3, -1] = torch.nan
    logits[1, SHARE] = torch.nan  # ignored
    assert_parallel(logits, target, reduction="none", return_argmax=True)


@compared
def all_ignored():
    logits, target = batch()
    target.fill_(-100)
    for reduction in ("mean", "sum", "none"):
        assert_parallel(logits, target, reduction=reduction, z_loss=0.1, **EVERYTHING)


@compared
def empty_batch():
    for reduction in ("mean", "sum", "none"):
        assert_parallel(*batch(rows=0), reduction=reduction, **EVERYTHING)


@compared
def ties_go_to_the_first_class():
    logits, target = batch()
    logits[:, [2, -1]] = 20.0
    output = cross_entropy(shard(logits), target, process_group=world(), **EVERYTHING)
    assert output.argmax.tolist() == [2, -1, 2, 2, 2]


@compared
def strides():
    logits, target = batch()
    padded = torch.zeros(5, 2 * SHARE)
    padded[:, 1 : SHARE + 1] = shard(logits)
    spaced = torch.zeros(5, 2 * SHARE)
    spaced[:, ::2] = shard(logits)
    transposed = shard(logits).t().contiguous().t()
    for part in (padded[:, 1 : SHARE + 1], spaced[:, ::2], transposed):
        assert_parallel(logits, target, part=part)


@compared
def gradient_in_place():
    for dtype in DTYPES:
        logits, target = batch(dtype=dtype)
        weights = leaf(shard(logits), dtype)
        part = weights * 1
        places = []
        part.register_hook(lambda grad, places=places: places.append(grad.data_ptr()))
        cross_entropy(part, target, process_group=world(), inplace=True).backward()
        assert places == [part.data_ptr()]
        apart = leaf(shard(logits), dtype)
        cross_entropy(apart, target, process_group=world()).backward()
        torch.testing.assert_close(weights.grad, apart.grad, rtol=0, atol=0)


@compared
def labels_out_of_range_raise_everywhere():
    logits, target = batch()
    classes = logits.shape[1]
    for label in (classes, -1):
        target[2] = label
        with pytest.raises(IndexError, match=f"label {label} of position 2 .* {classes} classes"):
            cross_entropy(shard(logits), target, process_group=world(), check_labels=True)


@compared
def one_exchange_of_a_few_numbers_per_row():
    logits, target = batch()
    exchanged = []
    exchange = operator.gathered

    def counted(part, *group):
        exchanged.append(part.numel() * part.element_size())
        return exchange(part, *group)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operator, "gathered", counted)
        part = leaf(shard(logits), torch.bfloat16)
        cross_entropy(part, target, process_group=world()).backward()
    assert exchanged == [32 * len(target)]


@compared
def checkpointed_gradients():
    def loss(part, target, **options):
        return checkpoint(
            lambda part: cross_entropy(part, target, **options), part, use_reentrant=False
        )

    assert_parallel(*batch(), loss=loss)


@compared
def repeated_gradients():
    logits, target = batch()
    part = leaf(shard(logits), torch.float32)
    loss = cross_entropy(part, target, process_group=world())
    first, second = (torch.autograd.grad(loss, part, retain_graph=True)[0] for _ in range(2))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


@compared
def other_derivatives_are_refused():
    logits, target = batch()
    part = leaf(shard(logits), torch.float32)

    def loss(x, target=target):
        return cross_entropy(x, target, process_group=world())

    (grad,) = torch.autograd.grad(loss(part), part, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiable once"):
        grad.sum().backward()
    with pytest.raises(RuntimeError, match="no forward-mode derivative"):
        torch.func.jvp(loss, (part,), (torch.ones_like(part),))
    if hasattr(torch.library, "register_vmap"):  # torch 2.5
        with pytest.raises(RuntimeError, match=r"does not run under torch\.vmap"):
            torch.vmap(loss)(torch.stack([part, part]), torch.stack([target, target]))


@compared
def compiled_whole():
    logits, target = batch(dtype=torch.bfloat16)

    def loss(part, target, **options):
        return cross_entropy(part * 1, target, **options)

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    assert_parallel(logits, target, loss=compiled, label_smoothing=0.1, z_loss=0.1)
    module = CrossEntropyLoss(softcap=5.0, process_group=world())
    compiled_module = torch.compile(module, fullgraph=True, backend="aot_eager")
    expected = cross_entropy(logits, target, softcap=5.0)
    torch.testing.assert_close(compiled_module(shard(logits), target), expected)


@compared
def group_of_one_is_the_plain_loss():
    groups = [dist.new_group([rank]) for rank in range(dist.get_world_size())]
    logits, target = make(4, SHARE)
    loss = cross_entropy(logits.requires_grad_(), target, process_group=groups[dist.get_rank()])
    torch.testing.assert_close(loss, cross_entropy(logits, target), rtol=0, atol=0)
    with pytest.raises(TypeError, match="that this process belongs to"):
        cross_entropy(logits, target, process_group=groups[dist.get_rank() - 1])


@compared
def subgroups_in_the_order_of_their_ranks():
    # A group that is not the world: its ranks count, not those of the world.
    members = list(range(1, dist.get_world_size()))
    group = dist.new_group(members)
    if dist.get_rank() == 0:
        return
    logits, target = make(4, SHARE * len(members))
    mine = slice((dist.get_rank() - 1) * SHARE, dist.get_rank() * SHARE)
    loss = cross_entropy(logits[:, mine], target, process_group=group)
    torch.testing.assert_close(loss, cross_entropy(logits, target))


# From here on with DTensor, whose import takes a second.


def mesh(*shape):
    from torch.distributed.device_mesh import init_device_mesh

    return init_device_mesh("cpu", shape or (dist.get_world_size(),))


def assert_dtensor(
    logits, target, placements, *, mesh_of=None, weight=None, loss=cross_entropy, **options
):
    """As ``assert_parallel``, for logits that are spread by DTensor itself."""
    from torch.distributed.tensor import DTensor, Replicate, distribute_tensor

    mesh_of = mesh_of or mesh()
    x = leaf(logits, logits.dtype)
    local = {k: v.full_tensor() if isinstance(v, DTensor) else v for k, v in options.items()}
    expected = results_of(
        cross_entropy(
            x,
            target.full_tensor() if isinstance(target, DTensor) else target,
            weight=weight.full_tensor() if isinstance(weight, DTensor) else weight,
            **local,
        )
    )
    spread = distribute_tensor(logits, mesh_of, placements).requires_grad_()
    output = results_of(loss(spread, target, weight=weight, **options))
    plain = []
    for result in output:
        assert result is None or result.placements == (Replicate(),) * mesh_of.ndim
        plain.append(None if result is None else result.to_local())
    grad = differentiate(CrossEntropyOutput(*plain), spread)
    assert grad.placements == spread.placements
    assert_same(plain, expected, grad.full_tensor(), differentiate(expected, x))


@compared
def dtensor_shards():
    from torch.distributed.tensor import Replicate, Shard

    size = dist.get_world_size()
    for classes in (SHARE * size, SHARE * size + 1, SHARE * size - 1):
        for dtype in DTYPES:
            logits, target = make(5, classes, dtype=dtype)
            assert_dtensor(logits, target, [Shard(1)], label_smoothing=0.1, **EVERYTHING)
    uneven = SHARE * size + 1
    for shape, dim in (((uneven,), 0), ((2, uneven, 3), 1), ((0, uneven), 1)):
        assert_dtensor(*make(*shape), [Shard(dim)], reduction="none", **EVERYTHING)
    assert_dtensor(*make(5, uneven), [Replicate()])
    assert_dtensor(*make(5, uneven), [Replicate(), Shard(-1)], mesh_of=mesh(1, size))
    assert_dtensor(*make(5, uneven), [Shard(1), Replicate()], mesh_of=mesh(1, size))
    assert_dtensor(*make(5, uneven), [Shard(1)], inplace=True, check_labels=True)


@compared
def dtensor_targets_weights_and_counts():
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    classes = SHARE * dist.get_world_size() + 1
    logits, target = make(5, classes)
    weight = torch.linspace(0.1, 2.0, classes)
    assert_dtensor(logits, target, [Shard(1)], weight=weight)
    for placements in ([Replicate()], [Shard(0)]):
        spread = {"weight": distribute_tensor(weight, mesh(), placements)}
        spread_target = distribute_tensor(target, mesh(), placements)
        spread["num_items"] = (spread_target != -100).sum()
        assert_dtensor(logits, spread_target, [Shard(1)], label_smoothing=0.1, **spread)


@compared
def dtensor_refusals():
    from torch.distributed.tensor import DTensor, Partial, Shard, distribute_tensor

    size = dist.get_world_size()
    logits, target = make(2 * size, SHARE * size)
    by_rows = distribute_tensor(logits, mesh(), [Shard(0)])
    with pytest.raises(ValueError, match=r"must be replicated, or be Shard\(1\) over one mesh"):
        cross_entropy(by_rows, target)
    with pytest.raises(ValueError, match="redistribute them"):
        cross_entropy(DTensor.from_local(logits, mesh(), [Partial()]), target)
    twice = distribute_tensor(logits, mesh(1, size), [Shard(1), Shard(1)])
    with pytest.raises(ValueError, match="over one mesh dimension"):
        cross_entropy(twice, target)
    with pytest.raises(ValueError, match="leave process_group out"):
        cross_entropy(by_rows, target, process_group=world())
    few, target = make(2, size - 1)
    with pytest.raises(ValueError, match="without any"):
        cross_entropy(distribute_tensor(few, mesh(), [Shard(1)]), target)
    with pytest.raises(ValueError, match="need a target of shape"):
        cross_entropy(by_rows, target)


@compared
def dtensor_compiled_whole():
    from torch.distributed.tensor import Shard

    compiled = torch.compile(cross_entropy, fullgraph=True, backend="aot_eager")
    assert_dtensor(*batch(dtype=torch.bfloat16), [Shard(1)], loss=compiled, return_lse=True)
