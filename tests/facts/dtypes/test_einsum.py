"""Which equations autocast runs in half precision, as torch does it."""

from __future__ import annotations

import pytest

from precision_lint.facts.dtypes.operators.einsum import multiplies_elements

torch = pytest.importorskip("torch")

_SHAPES = {"i,j->ij": [(3,), (4,)], "i,j": [(3,), (4,)], "ij,jk->ik": [(3, 4), (4, 5)]}
_SHAPES |= {"ij, jk": [(3, 4), (4, 5)], "bi,bj->bij": [(2, 3), (2, 4)], "ij,ij->ij": [(3, 4)] * 2}
_SHAPES |= {"ij->i": [(3, 4)], "i,i->": [(3,), (3,)], "...i,j->...ij": [(2, 3), (4,)]}
_SHAPES |= {"i,j,k->ijk": [(3,), (4,), (5,)], "ij,jk,kl->il": [(3, 4), (4, 5), (5, 2)]}


@pytest.mark.parametrize("equation", _SHAPES)
def test_autocast_casts_what_is_summed_over_two_operands(equation: str) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = torch.einsum(equation, *map(torch.ones, _SHAPES[equation]))
    assert (result.dtype == torch.float32) is multiplies_elements(equation)
