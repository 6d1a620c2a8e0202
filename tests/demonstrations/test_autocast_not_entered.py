"""A context that is not entered changes nothing, and says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch")


def product_dtype() -> object:
    return (torch.ones(2, 2) @ torch.ones(2, 2)).dtype


def test_and_loses_no_grad() -> None:
    layer = torch.nn.Linear(2, 2)
    with torch.no_grad() and torch.autocast("cpu", dtype=torch.bfloat16):
        lost = layer(torch.ones(1, 2))
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        entered = layer(torch.ones(1, 2))
    print("requires_grad with `and`:", lost.requires_grad, "with `,`:", entered.requires_grad)
    assert lost.requires_grad
    assert not entered.requires_grad


def test_and_loses_autocast() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16) and torch.no_grad():
        assert product_dtype() is torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        assert product_dtype() is torch.bfloat16


@contextmanager
def yielded() -> Iterator[object]:
    yield torch.autocast("cpu", dtype=torch.bfloat16)


@contextmanager
def entered() -> Iterator[None]:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield


def test_a_yielded_context_is_not_entered() -> None:
    with yielded():
        assert product_dtype() is torch.float32
    with entered():
        assert product_dtype() is torch.bfloat16


def test_a_dropped_context_is_not_entered() -> None:
    torch.autocast("cpu", dtype=torch.bfloat16)
    assert product_dtype() is torch.float32
