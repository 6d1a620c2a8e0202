"""What the run of a file as a program comes to, and what it spends on other modules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from precision_lint.facts.dtypes.interpreter import budget
from precision_lint.facts.dtypes.program_run import calls_in_program
from precision_lint.source.text.text import SourceText
from tests.context import python_file, recording
from tests.facts.dtypes.following import HEAD, described

STEPS = "".join(f"    x = x + {k}\n" for k in range(40))
FAR = f"def far0(x):\n{STEPS}    return x.double()\n\n" + "".join(
    f"def far{k}(x):\n{STEPS}    return far0(x + {k})\n\n" for k in range(1, 10)
)
CALLING = "import other\n" + "".join(
    f"a{k} = other.far{k % 10}(torch.zeros(1, {k}))\n" for k in range(40)
)


def judged(root: Path, **files: str) -> list[str]:
    """What each `.matmul()` of main.py is called on, in the order of the run."""
    for name, content in files.items():
        (root / f"{name}.py").write_text(HEAD + content)
    path = root / "main.py"
    file = python_file(SourceText.from_bytes(path, path.read_bytes()), recording(root, ()))
    calls = calls_in_program(file, frozenset({"matmul"}))
    return [described(call.receiver) for call in calls]


def test_other_modules_do_not_use_up_the_budget_of_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, spent = budget.Budget.count, Counter[str]()

    def counted(self: budget.Budget) -> None:
        spent["expressions"] += 1
        count(self)

    monkeypatch.setattr(budget.Budget, "count", counted)
    main = CALLING + "b = torch.zeros(2).half()\nb.matmul(b)\na0.matmul(a0)\na39.matmul(a39)\n"
    assert judged(tmp_path, main=main, other=FAR) == ["float16", "float64", "Unknown"]
    assert spent["expressions"] < 2 * budget._ELSEWHERE_BUDGET


def test_a_body_elsewhere_counts_for_what_it_returns(
    tmp_path: Path, interpreted: Counter[str]
) -> None:
    other = (
        "def show(x):\n    print(x)\n\n"
        "def made(x):\n    noise = noisy(x)\n    show(noise)\n    return x.double()\n\n"
        "def noisy(x):\n    return x + 1\n"
    )
    main = "import other\nx = other.made(torch.zeros(2))\nother.show(x)\nx.matmul(x)\n"
    assert judged(tmp_path, main=main, other=other) == ["float64"]
    assert interpreted["made"] == 1
    assert not {"noisy", "show"} & interpreted.keys()


@pytest.mark.parametrize(
    "given",
    [
        "Net()",
        "[Net()]",
        "{'net': Net()}",
        "Net().forward",
        "partial(Net().forward)",
        "lambda x: Net()(x)",
    ],
)
def test_another_module_comes_back_by_what_it_is_given(given: str, tmp_path: Path) -> None:
    """What it does with the code of the program counts, though nobody takes what it returns."""
    nets = {"[": "nets[0]", "{": "nets['net']"}
    net = nets.get(given[0], "nets")
    other = f"def train(nets, x):\n    loss = {net}(x)\n    print(loss)\n"
    main = (
        "from functools import partial\nfrom other import train\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return x.matmul(x)\n"
        f"train({given}, torch.zeros(2, 2).half())\n"
    )
    assert judged(tmp_path, main=main, other=other) == ["float16"]


def test_an_object_that_keeps_a_module_of_the_program_comes_back(tmp_path: Path) -> None:
    other = (
        "class Loop:\n    def __init__(self, net):\n        self.net = net\n\n"
        "    def run(self, x):\n        loss = self.net(x)\n        print(loss)\n"
    )
    main = (
        "from other import Loop\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return x.matmul(x)\n"
        "loop = Loop(Net())\nloop.run(torch.zeros(2, 2).half())\n"
    )
    assert judged(tmp_path, main=main, other=other) == ["float16"]
