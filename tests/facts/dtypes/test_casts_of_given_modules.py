"""Casts in place of modules that an object was given, which other methods of it see."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

NET = (
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.l = nn.Linear(2, 2)\n    def forward(self, x):\n        return self.l(x)\n"
)
PIPE = (
    "class Pipe:\n    def __init__(self, net, other=None):\n"
    "        self.net, self.other = net, other\n{cast}"
    "    def run(self, x):\n        self.net(x).numpy()\n"
)
METHOD = "    def lower(self, t):\n        {body}\n"
BOTH = "bfloat16 float32"
CASTS = [
    ("a statement", METHOD.format(body="self.net.to(t)"), "p.lower(torch.bfloat16)", BOTH),
    ("after eval", METHOD.format(body="self.net.eval().to(t)"), "p.lower(torch.bfloat16)", BOTH),
    (
        "a loop over attributes",
        METHOD.format(body="for part in (self.net, self.other): part.to(t)"),
        "p.lower(torch.bfloat16)",
        BOTH,
    ),
    (
        "a loop over other attributes",
        METHOD.format(body="for part in (self.other,): part.to(t)"),
        "p.lower(torch.bfloat16)",
        "float32",
    ),
    ("to float32", METHOD.format(body="self.net.to(t)"), "p.lower(torch.float32)", "float32"),
    ("to a device", METHOD.format(body="self.net.to(t)"), "p.lower('cuda')", "float32"),
    ("nobody calls it", METHOD.format(body="self.net.to(t)"), "pass", "float32"),
    (
        "a copy",
        METHOD.format(body="copy.deepcopy(self.net).to(t)"),
        "p.lower(torch.half)",
        "float32",
    ),
]


@pytest.mark.parametrize("made", ["Net()", "nn.Linear(2, 2)"])
@pytest.mark.parametrize(
    ("cast", "use", "expected"), [case[1:] for case in CASTS], ids=[case[0] for case in CASTS]
)
def test_casts(made: str, cast: str, use: str, expected: str, tmp_path: Path) -> None:
    main = (
        f"import copy\n{NET}{PIPE.format(cast=cast)}"
        f"p = Pipe({made}, {made})\n{use}\np.run(torch.ones(2, 2))\n"
    )
    found = {*described(last_call(tmp_path, main=main).receiver).split()} - {"chosen"}
    assert found == {*expected.split()}


def test_a_statement_casts_no_tensor(tmp_path: Path) -> None:
    pipe = PIPE.format(cast=METHOD.format(body="self.net.to(t)")).replace("self.net(x)", "self.net")
    main = f"{pipe}p = Pipe(torch.ones(2))\np.lower(torch.bfloat16)\np.run(None)\n"
    assert described(last_call(tmp_path, main=main).receiver) == "float32"
