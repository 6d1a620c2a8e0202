"""The examples of the page, loaded in bfloat16: the first raises, the second runs."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from rules import fixed_dtype_in_forward

torch = pytest.importorskip("torch")

_FENCE = re.compile(r"```python\n(.*?)```", re.DOTALL)


class _PreTrained(torch.nn.Module):
    """As much of a `PreTrainedModel` as the examples need: weights are random."""

    def __init__(self, config: object) -> None:
        super().__init__()


def _model(source: str, dtype: object) -> object:
    scope: dict[str, object] = {"PreTrainedModel": _PreTrained}
    lines = [line for line in source.splitlines() if "transformers" not in line]
    exec("\n".join(lines), scope)
    return scope["Model"](SimpleNamespace()).to(dtype)  # type: ignore[operator]


def test_the_example_raises_in_half_precision_and_its_repair_does_not() -> None:
    bad, good = _FENCE.findall(fixed_dtype_in_forward.__doc__ or "")
    ids = torch.tensor([[1, 2, 3]])
    for dtype in (torch.bfloat16, torch.float16):
        with pytest.raises(RuntimeError, match="same dtype"):
            _model(bad, dtype)(ids)
        assert _model(good, dtype)(ids).dtype is dtype
    assert _model(bad, torch.float32)(ids).dtype is torch.float32


def test_einsum_raises_where_it_sums_and_promotes_where_it_does_not() -> None:
    half, wide = torch.ones(2, 3, dtype=torch.bfloat16), torch.ones(3, 2)
    with pytest.raises(RuntimeError, match="expected scalar type"):
        torch.einsum("ij,jk->ik", half, wide)
    assert torch.einsum("ij,j->ij", half, wide[:, 0]).dtype is torch.float32
