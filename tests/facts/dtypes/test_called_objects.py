"""Calls of a module are calls of its `forward`, and layers take inputs of their own dtype."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)

    def show(self, x):
        return self.forward(x)
"""

CALLS = [
    ("of a name", "model = Net()\nmodel(torch.zeros(1).half())\n", "float16 partial"),
    (
        "of a cast object",
        "model = Net().to(torch.bfloat16).eval()\nmodel(torch.zeros(1).bfloat16())\n",
        "bfloat16 partial",
    ),
    (
        "in a function",
        "def run():\n    model = Net()\n    return model(torch.zeros(1).half())\n",
        "float16 partial",
    ),
    ("of another name", "model = Net()\nother(torch.zeros(1).half())\n", ""),
]


@pytest.mark.parametrize(
    ("called", "expected"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS]
)
def test_what_a_parameter_of_forward_is(called: str, expected: str, tmp_path: Path) -> None:
    net = NET.replace("return self.layer(x)", "x.numpy()")
    receiver = last_call(tmp_path, main=net + called).receiver
    assert described(receiver) == (expected or "Unknown")


def test_a_layer_gives_what_it_takes(tmp_path: Path) -> None:
    net = NET.replace("return self.layer(x)", "self.layer(x).numpy()")
    call = last_call(tmp_path, main=f"{net}model = Net()\nmodel(torch.zeros(1).half())\n")
    assert described(call.receiver) == "float16 float32 partial"


def test_a_layer_of_another_object_stays_open(tmp_path: Path) -> None:
    net = NET.replace("return self.layer(x)", "self.layer(x).numpy()")
    assert described(last_call(tmp_path, main=net).receiver) == "float32 partial"
