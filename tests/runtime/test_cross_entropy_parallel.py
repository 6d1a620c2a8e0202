"""Classes spread over processes: results and gradients are those of one process."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("torch without gloo", allow_module_level=True)

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from precision_lint.runtime import cross_entropy  # noqa: E402
from precision_lint.runtime import cross_entropy_operator as operator  # noqa: E402
from precision_lint.runtime.cross_entropy_rows import RowOptions  # noqa: E402
from tests import cpu_time  # noqa: E402
from tests.runtime import cross_entropy_processes as processes  # noqa: E402
from tests.runtime.cross_entropy_checks import DEVICE, make  # noqa: E402


@pytest.fixture(scope="module")
def outcomes_of(tmp_path_factory) -> Callable[[int], list[dict[str, str]]]:
    """What came of each comparison, per process of a world; each world is started once.

    On the CPU: gloo is the backend that needs no GPU per process.
    """

    @functools.cache
    def run(world: int) -> list[dict[str, str]]:
        folder = tmp_path_factory.mktemp("processes")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CUDA_VISIBLE_DEVICES", "")  # the processes inherit it
            started = torch.multiprocessing.spawn(
                processes.run, (world, str(folder)), nprocs=world, join=False
            )
        end = time.monotonic() + cpu_time.HANG
        while not started.join(timeout=5):
            if time.monotonic() > end:
                for process in started.processes:
                    process.kill()
                pytest.fail(f"a world of {world} did not come to an end")
        return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]

    return run


@pytest.mark.parametrize(
    ("world", "comparison"),
    [(world, name) for world in (2, 3) for name in processes.comparisons_of(world)],
)
def test_processes_agree_with_one(outcomes_of, world, comparison):
    reached = [results.get(comparison, "an earlier one failed") for results in outcomes_of(world)]
    assert reached == [processes.PASSED] * world, "\n".join(reached)


def test_opcheck_in_a_group_of_one():
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    try:
        logits, target = (each.cpu() for each in make(4, 20))  # gloo's memory
        target[1] = -100
        options = (-100, 0.5, 5.0, 0.1, True, False, True)
        shard = (0, 20, 1, torch.distributed.group.WORLD.group_name)
        arguments = (logits.requires_grad_(), target, torch.rand(20), *options, *shard)
        torch.library.opcheck(torch.ops.precision_lint.cross_entropy_shard_rows.default, arguments)
    finally:
        torch.distributed.destroy_process_group()


def test_only_process_groups_are_taken():
    with pytest.raises(TypeError, match=r"is a torch\.distributed\.ProcessGroup"):
        cross_entropy(*make(2, 4), process_group="world")


@st.composite
def row_options(draw):
    return RowOptions(
        ignore_index=draw(st.sampled_from([-100, 0])),
        logit_scale=draw(st.sampled_from([1.0, 0.5, -1.0])),
        softcap=draw(st.sampled_from([0.0, 10.0])),
        label_smoothing=draw(st.sampled_from([0.0, 0.1, 1.0])),
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    classes=st.integers(1, 40),
    dtype=st.sampled_from(processes.DTYPES),
    weighted=st.booleans(),
    options=row_options(),
    data=st.data(),
)
def test_any_shards_make_the_whole(classes, dtype, weighted, options, data):
    logits, target = make(6, classes, dtype=dtype, seed=data.draw(st.integers(0, 99)))
    for _ in range(data.draw(st.integers(0, 3))):
        logits[data.draw(st.integers(0, 5)), data.draw(st.integers(0, classes - 1)) :] = -torch.inf
    target[0] = options.ignore_index
    cuts = sorted(data.draw(st.sets(st.integers(1, classes), max_size=4)) - {classes})
    shards = [slice(*ends) for ends in zip([0, *cuts], [*cuts, classes], strict=True)]
    rows = operator.implementation(logits)
    precision = torch.promote_types(dtype, torch.float32)
    weight = torch.linspace(0.1, 2.0, classes, dtype=precision, device=DEVICE) if weighted else None
    whole = rows.row_losses(logits, target, weight, options, argmax=True)

    def held(shard):
        return logits[:, shard], target, weight if weight is None else weight[shard]

    parts = [
        rows.row_partials(
            *held(shard), options, argmax=True, first_class=shard.start, one_part=True
        )
        for shard in shards
    ]
    merged = rows.combine(torch.cat(parts), target, options, argmax=True, classes=classes)
    assert [len(part) for part in parts] == [1] * len(shards)
    for ours, theirs in zip(merged, whole, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6, equal_nan=True)

    grad_losses = torch.linspace(-1.0, 1.0, 6, dtype=precision, device=DEVICE)
    expected, ours = torch.empty_like(logits), torch.empty_like(logits)
    for out, shard in [(expected, slice(0, classes)), *((ours, shard) for shard in shards)]:
        rows.row_gradient(
            out[:, shard],
            *(grad_losses, grad_losses),
            *held(shard),
            *(whole.statistics, options),
            first_class=shard.start,
            classes=classes,
        )
    torch.testing.assert_close(ours, expected, rtol=0, atol=0, equal_nan=True)
