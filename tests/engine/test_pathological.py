"""Files that nobody would write are checked in time, and the linter says so where it gives up."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.engine.check import Checked, check_bytes
from precision_lint.engine.settings import Settings
from tests import cpu_time
from tests.context import recording

HEAD = "import torch\nmodel_dtype = torch.bfloat16\n"
SINK = "x = torch.zeros(2, dtype=torch.bfloat16)\nx.numpy()\n"
_SECONDS = 30
"""CPU time; the slowest takes a fifth of it."""


def check(tmp_path: Path, source: str) -> Checked:
    path = tmp_path / "case.py"
    path.write_text(source)
    project = recording(tmp_path, ())
    with cpu_time.at_most(_SECONDS):
        return check_bytes(path, source.encode(), "python", project, Settings())


def branches(count: int) -> str:
    head = "def f(kind, x):\n    if kind == 0:\n        y = x.half()\n"
    rest = "".join(f"    elif kind == {n}:\n        y = x + {n}\n" for n in range(1, count))
    return head + rest + "    return y.numpy()\n"


def recursion(count: int) -> str:
    functions = [
        f"def f{n}(x, n):\n    y = f{(n + 1) % count}(x, n - 1)\n"
        f"    z = f{(n * 7 + 3) % count}(y.half(), n)\n    return z if n else x\n"
        for n in range(count)
    ]
    return "".join(functions) + "f0(torch.zeros(2).bfloat16(), 3).numpy()\n"


def nested(depth: int) -> str:
    lines = [f"{'    ' * n}for i{n} in range(3):" for n in range(depth)]
    lines += [f"{'    ' * depth}x = x.half() if i0 else x.float()", f"{'    ' * depth}x.numpy()"]
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param(HEAD + "y = x = 1\n" * 20_000 + SINK, 1, id="20,000 lines"),
        pytest.param(HEAD + "x = f(x)\nx.numpy()\n" * 10_000, 0, id="10,000 conversions"),
        pytest.param(HEAD + branches(900), 0, id="900 branches"),
        pytest.param(
            HEAD
            + "def f(kind, x):\n"
            + "    if kind:\n        x = x.half()\n" * 5_000
            + "    return x.numpy()\n",
            0,
            id="5,000 branches in a row",
        ),
        pytest.param(HEAD + recursion(400), 0, id="mutual recursion"),
        pytest.param(HEAD + nested(18), 0, id="nested loops"),
        pytest.param(
            HEAD + "def f(scaler, o, x):\n" + "    if x:\n        scaler.step(o)\n" * 3_000,
            0,
            id="3,000 branches with a step",
        ),
        pytest.param(
            HEAD + "def f(scaler, o, x):\n" + "    if x():\n        scaler.unscale_(o)\n" * 3_000,
            0,
            id="3,000 branches with an unscale",
        ),
        pytest.param(HEAD + f"x = {'[' * 80}1{']' * 80}\n" + SINK, 1, id="nested lists"),
        pytest.param(HEAD + "x = 1" + " + 1" * 3_000 + "\n" + SINK, None, id="a long sum"),
    ],
)
def test_in_time(source: str, found: int | None, tmp_path: Path) -> None:
    checked = check(tmp_path, source)
    codes = [finding.code for finding in checked.findings]
    if found is None:
        assert codes in (["MP101"], ["MP904"])  # checked, or said to be nested too deeply
    else:
        assert codes.count("MP101") >= found


def test_a_chain_of_5000_branches_is_reported(tmp_path: Path) -> None:
    checked = check(tmp_path, HEAD + branches(5_000))
    assert [finding.code for finding in checked.findings] == ["MP904"]


def test_what_was_not_analysed_is_said(tmp_path: Path) -> None:
    loop = "for i in range(9):\n    for j in range(9):\n" + "        x = f(x + i)\n" * 9_000
    checked = check(tmp_path, HEAD + f"def f(x):\n    return x\n{loop * 3}{SINK}")
    assert [note.split(": ")[1] for note in checked.notes] == ["too much code to analyse"]


@pytest.mark.parametrize(
    ("head", "repeated", "left"),
    [
        pytest.param(
            "import torch\n",
            "torch.ones(2).bfloat16().numpy()  # noqa: MP101\n",
            0,
            id="suppressed",
        ),
        pytest.param(
            "from torch.cuda.amp import autocast\n",
            "def f{0}(x):\n    with autocast():\n        return x\n",
            1_501,
            id="names in one scope",
        ),
    ],
)
def test_time_is_linear_in_findings(head: str, repeated: str, left: int, tmp_path: Path) -> None:
    source = head + "".join(repeated.format(number) for number in range(1_500))
    assert len(check(tmp_path, source).findings) == left
