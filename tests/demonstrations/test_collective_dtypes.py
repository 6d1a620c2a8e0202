"""What torch.distributed says to tensors of two dtypes, and gloo to float8."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
dist = pytest.importorskip("torch.distributed")


@pytest.fixture(autouse=True)
def group() -> Iterator[None]:
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    yield
    dist.destroy_process_group()


def sides(dtype: torch.dtype) -> tuple[Any, Any]:
    return torch.empty(4, dtype=dtype), torch.randn(4).half()


CALLS: list[Callable[[Any, Any], object]] = [
    lambda out, given: dist.all_gather([out], given),
    lambda out, given: dist.gather(given, [out]),
    lambda out, given: dist.scatter(out, [given]),
    lambda out, given: dist.reduce_scatter(out, [given]),
    lambda out, given: dist.all_to_all([out], [given]),
    lambda out, given: dist.all_to_all_single(out, given),
]


@pytest.mark.parametrize("call", CALLS)
def test_two_dtypes_are_refused(call: Callable[[Any, Any], object]) -> None:
    with pytest.raises(ValueError, match="Invalid usage of tensors with different dtypes"):
        call(*sides(torch.float32))


@pytest.mark.parametrize("call", [CALLS[0], CALLS[1], CALLS[2], CALLS[5]])
def test_one_dtype_is_taken(call: Callable[[Any, Any], object]) -> None:
    out, given = sides(torch.float16)
    call(out, given)
    assert torch.equal(out, given)


@pytest.mark.parametrize("name", ["all_reduce", "reduce", "broadcast"])
def test_float8_with_gloo(name: str) -> None:
    call = getattr(dist, name)
    rest = () if name == "all_reduce" else (0,)
    call(torch.rand(4).to(torch.bfloat16), *rest)
    with pytest.raises(RuntimeError, match="Invalid scalar type"):
        call(torch.rand(4).to(torch.float8_e4m3fn), *rest)
