"""Where averages of weights in half precision stay."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")


def _model(dtype: torch.dtype, value: float) -> torch.nn.Module:
    model = torch.nn.Linear(4, 1, bias=False).to(dtype)
    torch.nn.init.constant_(model.weight, value)
    return model


def _averaged(average: torch.nn.Module, model: torch.nn.Module, decay: float) -> float:
    with torch.no_grad():
        for _ in range(1000):
            for one, weight in zip(average.parameters(), model.parameters(), strict=True):
                one.mul_(decay).add_(weight.to(one.dtype), alpha=1 - decay)
    return next(average.parameters())[0, 0].item()


@pytest.mark.parametrize(
    ("dtype", "decay"), [(torch.bfloat16, 0.999), (torch.float16, 0.9999)], ids=str
)
def test_the_average_stays_where_it_is(dtype: torch.dtype, decay: float) -> None:
    start, model = _model(dtype, 1.0), _model(dtype, 2.0)
    assert _averaged(copy.deepcopy(start), model, decay) == 1.0
    right = 2 - decay**1000
    assert _averaged(copy.deepcopy(start).float(), model, decay) == pytest.approx(right, rel=1e-4)


def test_that_of_torch_stays_too() -> None:
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    model = _model(torch.bfloat16, 1.0)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999))
    average.update_parameters(model)
    torch.nn.init.constant_(model.weight, 2.0)
    for _ in range(1000):
        average.update_parameters(model)
    assert next(average.parameters())[0, 0] == 1.0
