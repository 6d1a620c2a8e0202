"""A cast to float32 before a product does not survive autocast."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

POSITIONS = [[1001], [2003], [4005]]
FREQUENCIES = [[1.0]]


def angles(cast: str, enabled: bool = True) -> object:
    """Positions times a frequency under autocast, each cast by a method before."""
    positions = getattr(torch.tensor(POSITIONS), cast)()
    frequencies = getattr(torch.tensor(FREQUENCIES), cast)()
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.autocast("cpu", enabled=enabled):
        return positions @ frequencies


def test_float_is_undone() -> None:
    wrong, right = angles("float"), angles("float", enabled=False)
    print("under autocast:", wrong.flatten().tolist(), "without:", right.flatten().tolist())
    assert wrong.dtype is torch.bfloat16
    assert wrong.flatten().tolist() == [1000.0, 2000.0, 4000.0]
    assert right.flatten().tolist() == [1001.0, 2003.0, 4005.0]


def test_double_is_respected() -> None:
    assert angles("double").flatten().tolist() == [1001.0, 2003.0, 4005.0]


@pytest.mark.parametrize(
    "product",
    [
        lambda a, b: a @ b,
        lambda a, b: torch.matmul(a, b),
        lambda a, b: a.mm(b),
        lambda a, b: torch.einsum("ij,jk->ik", a, b),
        lambda a, b: torch.nn.functional.linear(a, b),
        lambda a, b: torch.addmm(a, a, b),
        lambda a, b: torch.nn.functional.scaled_dot_product_attention(a, b, a),
        lambda a, b: torch.nn.functional.conv1d(a[None], b[None].mT),
    ],
)
def test_of_every_product(product: object) -> None:
    operand = torch.ones(2, 2, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = product(operand.float(), operand.float())  # type: ignore[operator]
    assert found.dtype is torch.bfloat16


def test_elementwise_operators_and_out_are_not_touched() -> None:
    operand, out = torch.ones(2, 2), torch.empty(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (operand * operand).dtype is torch.float32
        assert torch.mm(operand, operand, out=out).dtype is torch.float32
