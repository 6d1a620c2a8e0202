"""A cast of a tensor makes another tensor, a cast of a module changes the module."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("cast", ["half", "bfloat16", "double"])
def test_a_tensor_stays_what_it_was(cast: str) -> None:
    tensor, layer = torch.ones(2), torch.nn.Linear(2, 2)
    getattr(tensor, cast)()
    getattr(layer, cast)()
    assert tensor.dtype is torch.float32
    assert layer.weight.dtype is not torch.float32


def test_parameters_stay_what_they_were() -> None:
    layer = torch.nn.Linear(2, 2).bfloat16()
    for parameter in layer.parameters():
        parameter = parameter.to(torch.float32)  # the mistake
    assert layer.weight.dtype is torch.bfloat16
    for parameter in layer.parameters():
        parameter.data = parameter.data.to(torch.float32)
    assert layer.weight.dtype is torch.float32


def test_an_operator_without_a_half_kernel_raises_all_the_same() -> None:
    covariance = torch.eye(2, dtype=torch.bfloat16)
    covariance.float()
    with pytest.raises(RuntimeError, match="\"cholesky_cpu\" not implemented for 'BFloat16'"):
        torch.linalg.cholesky(covariance)
    covariance = covariance.float()
    assert torch.linalg.cholesky(covariance).dtype is torch.float32


def test_scores_of_a_slice_that_is_not_the_cast_one() -> None:
    """The squares of 300 are no float16: what is multiplied is `query[:1]`, not `part`."""
    query = torch.full((1, 1, 1), 300.0, dtype=torch.float16)
    part = query[:1]
    part = part.float()
    assert torch.bmm(query[:1], query[:1]).isinf().all()
    assert torch.bmm(part, part).item() == 90_000
