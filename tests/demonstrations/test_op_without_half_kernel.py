"""Operators without a kernel for half precision: what they raise, and that float32 works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from precision_lint.facts.dtypes._generated.kernels import LACKING

torch = pytest.importorskip("torch")

MATRIX = [[2.0, 1.0], [1.0, 3.0]]
CALLS: dict[str, Callable[[Any], Any]] = {
    "quantile": lambda x: torch.quantile(x, 0.9),
    "linalg.svd": lambda x: torch.linalg.svd(x),
    "linalg.qr": lambda x: torch.linalg.qr(x),
    "linalg.inv": lambda x: torch.linalg.inv(x),
    "linalg.eigh": lambda x: torch.linalg.eigh(x),
    "linalg.cholesky": lambda x: torch.linalg.cholesky(x),
    "linalg.solve": lambda x: torch.linalg.solve(x, x),
    "linalg.lstsq": lambda x: torch.linalg.lstsq(x, x),
    "fft.rfft": lambda x: torch.fft.rfft(x),
    "view_as_complex": lambda x: torch.view_as_complex(x),
    "complex": lambda x: torch.complex(x, x),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_it_raises_in_half_precision_and_works_in_float32(name: str) -> None:
    x = torch.tensor(MATRIX)
    CALLS[name](x)
    for dtype, lack in LACKING[name].items():
        kind, _, message = lack.cpu.partition(": ")
        with pytest.raises(RuntimeError) as raised:  # NotImplementedError is one
            CALLS[name](x.to(getattr(torch, dtype)))
        assert type(raised.value).__name__ == kind
        assert str(raised.value).split("{")[0].split("(Half")[0][:40] in f"{message}"[:200]


def test_autocast_on_cpu_casts_for_the_quantile() -> None:
    assert "cpu" not in LACKING["quantile"]["bfloat16"].in_regions
    with torch.autocast("cpu", torch.bfloat16):
        torch.quantile(torch.tensor(MATRIX, dtype=torch.bfloat16), 0.9)


def test_the_result_of_the_fix_is_that_of_float32() -> None:
    weight = torch.randn(64, 64, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    limit = torch.quantile(weight.float(), 0.99)
    torch.testing.assert_close(
        limit.double(), torch.quantile(weight.double(), 0.99), rtol=1e-6, atol=0
    )
