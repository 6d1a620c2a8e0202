"""What a default dtype that is left on does to code that comes after it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def default() -> Iterator[None]:
    yield
    torch.set_default_dtype(torch.float32)


def test_positions_that_are_made_later_are_rounded() -> None:
    assert len(torch.arange(0, 300.0).unique()) == 300
    torch.set_default_dtype(torch.bfloat16)
    assert len(torch.arange(0, 300.0).unique()) == 279


def test_operands_that_are_made_later_do_not_fit() -> None:
    layer = torch.nn.Linear(2, 2)
    torch.set_default_dtype(torch.bfloat16)
    with pytest.raises(RuntimeError, match="must have the same dtype"):
        layer(torch.ones(1, 2))


def test_a_return_before_the_second_call_leaves_it_on() -> None:
    def load(path: str | None) -> None:
        torch.set_default_dtype(torch.bfloat16)
        if path is None:
            return
        torch.set_default_dtype(torch.float32)

    load("path")
    assert torch.ones(1).dtype is torch.float32
    load(None)
    assert torch.ones(1).dtype is torch.bfloat16
