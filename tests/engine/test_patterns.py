"""The patterns of rules match what the rules report, as it may be written."""

from __future__ import annotations

import json

import pytest

from precision_lint.engine.registry import rule
from precision_lint.model.searched import Searched

REST = "import torch\nfor x in xs:\n    total += x\n"


@pytest.mark.parametrize(
    "made",
    [
        "torch.zeros((), dtype=dtype)", "torch.zeros([], dtype=dtype)",
        "torch.zeros(1, dtype=dtype)", "torch.zeros(1.0, dtype=dtype)",
        "torch.zeros(True, dtype=dtype)", "torch.zeros(\n    (\n    ),\n    dtype=dtype)",
        "torch.zeros(  # one\n    1, dtype=dtype)", "torch.zeros((1), dtype=dtype)",
        "torch.tensor(0, dtype=dtype)", "torch.tensor(.5, dtype=dtype)",
        "torch.tensor(\n    0.0, dtype=dtype)", "torch.tensor(False, dtype=dtype)",
    ],
)  # fmt: skip
def test_a_tensor_of_one_number(made: str) -> None:
    code = f"{REST}total = {made}\n"
    cell = json.dumps({"source": code.splitlines(keepends=True)}, indent=1)
    wants = rule("half-running-total").wants
    assert wants(Searched(code.encode()))
    assert wants(Searched(cell.replace('\\"', '"').encode()))


@pytest.mark.parametrize("made", ["torch.zeros(size, dtype=dtype)", "torch.tensor(x, dtype=dtype)"])
def test_other_tensors(made: str) -> None:
    code = f"{REST}total = {made}\n"
    assert not rule("half-running-total").wants(Searched(code.encode()))
