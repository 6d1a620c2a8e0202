"""Writes by index, mask and scatter: which reject another dtype, and which cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

ROWS = torch.arange(4)
PLACES = torch.zeros(4, 4, dtype=torch.int64)
MASK = torch.eye(4, dtype=torch.bool)

REJECTED: dict[str, Callable[[Any, Any], object]] = {
    "a mask": lambda dst, src: dst.__setitem__(MASK, src[0]),
    "a tensor": lambda dst, src: dst.__setitem__(ROWS, src),
    "a tensor after a slice": lambda dst, src: dst.__setitem__((slice(None), ROWS), src),
    "a list": lambda dst, src: dst.__setitem__([0, 1], src[:2]),
    "index_put_": lambda dst, src: dst.index_put_((ROWS,), src),
    "index_add_": lambda dst, src: dst.index_add_(0, ROWS, src),
    "index_copy_": lambda dst, src: dst.index_copy_(0, ROWS, src),
    "put_": lambda dst, src: dst.put_(ROWS, src[0]),
    "masked_scatter_": lambda dst, src: dst.masked_scatter_(MASK, src),
    "scatter_": lambda dst, src: dst.scatter_(1, PLACES, src),
    "scatter_add_": lambda dst, src: dst.scatter_add_(1, PLACES, src),
    "scatter_reduce_": lambda dst, src: dst.scatter_reduce_(1, PLACES, src, "sum"),
}
CAST: dict[str, Callable[[Any, Any], object]] = {
    "a number": lambda dst, src: dst.__setitem__(0, src[0]),
    "a slice": lambda dst, src: dst.__setitem__(slice(0, 2), src[:2]),
    "an index of no dimension": lambda dst, src: dst.__setitem__(torch.tensor(1), src[0]),
    "a value of no dimension under a mask": lambda dst, src: dst.__setitem__(MASK, src[0, 0]),
    "copy_": lambda dst, src: dst.copy_(src),
    "masked_fill_": lambda dst, src: dst.masked_fill_(MASK, src[0, 0]),
    "where": lambda dst, src: torch.where(MASK, dst, src),
}


@pytest.mark.parametrize("in_region", [False, True], ids=["eager", "autocast"])
@pytest.mark.parametrize("name", REJECTED)
def test_another_dtype_is_rejected_and_a_cast_helps(name: str, in_region: bool) -> None:
    for one, other in ((torch.bfloat16, torch.float32), (torch.float32, torch.float16)):
        source = torch.ones(4, 4, dtype=other)
        with torch.autocast("cpu", torch.bfloat16, enabled=in_region):
            with pytest.raises(RuntimeError, match=r"dtype|scalar type"):
                REJECTED[name](torch.zeros(4, 4, dtype=one), source)
            REJECTED[name](torch.zeros(4, 4, dtype=one), source.to(one))


@pytest.mark.parametrize("name", CAST)
def test_these_cast(name: str) -> None:
    CAST[name](torch.zeros(4, 4, dtype=torch.bfloat16), torch.ones(4, 4))
