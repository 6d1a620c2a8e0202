"""MP101 names the argument that is known to be bfloat16, and not one that is merely not known."""

from __future__ import annotations

from precision_lint.api import lint_project

PLOT = b"""\
import matplotlib.pyplot as plt
import torch


def plot(target: torch.Tensor, half: bool):
    predicted = torch.ones(2, dtype=torch.bfloat16 if half else torch.float32)
    plt.scatter(target, predicted)
"""


def test_the_argument_that_hurts_is_named() -> None:
    (finding,) = lint_project({"plot.py": PLOT}).records
    assert finding["message"].startswith("`predicted` can be bfloat16")
