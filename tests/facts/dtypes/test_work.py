"""What is computed, and how often: counts that do not depend on the machine."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.interpreter import budget
from precision_lint.facts.dtypes.whole_program import instances
from tests.facts.dtypes.following import calls_of, described

HOLDER = """
import torch

class Holder:
    def __init__(self, path):
        self.path = path
        self.weights = torch.load(self.path)
        self.net = torch.nn.Linear(2, 2).to(self.weights.dtype)

    def {first}(self, x):
        return {one}

    def {second}(self, x):
        return {two}
"""
NET, WEIGHTS = "self.net(x).numpy()", "self.weights.numpy()"


def test_attributes_that_a_slice_shows_are_not_traced_again(
    tmp_path: Path, interpreted: Counter[str]
) -> None:
    source = HOLDER.format(first="read", one=NET, second="save", two=WEIGHTS)
    calls = [call for call in calls_of(tmp_path, main=source) if call.name == "numpy"]
    assert len(calls) == 2
    assert interpreted["Holder.__init__"] == 1


def test_defaults_of_a_record_are_worked_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default, found = instances.default_of, Counter[int]()

    def counted(declared: Any) -> Any:
        found[declared.lineno] += 1
        return default(declared)

    monkeypatch.setattr(instances, "default_of", counted)
    record = "@dataclass\nclass Config:\n    scale: float = 1.0\n    dtype: str = 'float64'\n\n"
    made = "".join(f"one{k} = torch.zeros(2, dtype=Config().dtype)\n" for k in range(3))
    asked = "".join(f"one{k}.numpy()\n" for k in range(3))
    source = f"import torch\nfrom dataclasses import dataclass\n\n{record}{made}{asked}"
    receivers = [described(call.receiver) for call in calls_of(tmp_path, main=source)]
    assert receivers.count(receivers[-1]) == len(receivers)
    assert "float64" in receivers[-1]
    assert set(found.values()) == {1}


def test_what_is_known_when_the_budget_is_spent_is_kept(
    tmp_path: Path, interpreted: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body gets its answer from what was found out for the whole file."""
    monkeypatch.setattr(budget, "_INTERPROCEDURAL_BUDGET", 500)
    monkeypatch.setattr(budget, "_LEAST_SHARE", 100)
    steps = "".join(f"    x = x + {k}\n" for k in range(40))
    shared = f"def shared(x):\n{steps}    return x.double()\n\n"
    chain = "".join(f"def far{k}(x):\n{steps}    return far{k + 1}(x)\n\n" for k in range(20))
    uses = "def use(x):\n    return shared(x).numpy()\n\ndef lost(x):\n    return far0(x).numpy()\n"
    source = f"import torch\n\n{shared}{chain}def far20(x):\n    return x\n\n{uses}"
    calls = {call.scope: call for call in calls_of(tmp_path, main=source)}
    assert "float64" in described(calls["use"].receiver)
    assert described(calls["lost"].receiver) == "Unknown"
    assert interpreted["shared"] == 1


def test_what_one_body_leaves_of_its_share_is_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "_INTERPROCEDURAL_BUDGET", 1200)
    monkeypatch.setattr(budget, "_LEAST_SHARE", 100)
    steps = [f"    x = x + {k}\n" for k in range(160)]
    few = "".join(steps[:40])
    chain = "".join(f"def far{k}(x):\n{few}    return far{k + 1}(x)\n\n" for k in range(20))
    near = f"def near(x):\n{''.join(steps)}    return x.double()\n\n"
    uses = "".join(
        f"def {name}(x):\n    return {called}(x).numpy()\n\n"
        for name, called in {"lost": "far0", "plain": "plainly", "use": "near"}.items()
    )
    plainly = "def plainly(x):\n    return x.double()\n\n"
    source = f"import torch\n\n{near}{plainly}{chain}def far20(x):\n    return x\n\n{uses}"
    calls = {call.scope: call for call in calls_of(tmp_path, main=source)}
    assert described(calls["lost"].receiver) == "Unknown"
    assert "float64" in described(calls["plain"].receiver)
    assert "float64" in described(calls["use"].receiver)


def test_what_other_code_assigns_costs_a_share_of_the_budget(
    tmp_path: Path, interpreted: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sets an attribute of an object may be far away: then it stays open."""
    monkeypatch.setattr(budget, "_QUESTION_BUDGET", 300)
    holder = "class Holder:\n    def __init__(self):\n        self.hook = None\n\n"
    read = "    def read(self):\n        return self.hook.numpy()\n\n"
    use = "def use(x):\n    return x.double().numpy()\n"
    steps = "".join(f"    x = x + {k}\n" for k in range(40))
    chain = "".join(f"def far{k}(x):\n{steps}    return far{k + 1}(x)\n\n" for k in range(9))
    far = f"{chain}def far9(x):\n    return Holder()\n\n"
    put = "def put(holder):\n    holder.hook = torch.zeros(2)\n\nput(far0(1))\n"
    other = f"from main import Holder\n\n{far}{put}"
    calls = {call.scope: call for call in calls_of(tmp_path, main=holder + read + use, other=other)}
    assert described(calls["Holder.read"].receiver) == "Unknown"
    assert "float64" in described(calls["use"].receiver)
    assert interpreted["far0"] == 1
    assert interpreted["far8"] == 0


def test_a_body_is_traced_for_its_own_rows(tmp_path: Path, interpreted: Counter[str]) -> None:
    """What is asked inside of a nested function is asked of that one alone."""
    source = (
        "def outer(x):\n    x.half().numpy()\n    def middle(y):\n"
        "        def inner(z):\n            z.numpy()\n        return inner\n    return middle\n"
    )
    assert len(calls_of(tmp_path, main=source)) == 2
    assert interpreted["outer.middle"] <= 3
    assert interpreted["outer"] <= 5


def test_only_what_writes_the_file_is_traced_for_it(
    tmp_path: Path, interpreted: Counter[str]
) -> None:
    """Other calls of the name may be anything: images, models, other files."""
    source = (
        "def keep(x):\n    torch.save(x.bfloat16(), 'means_of_rows.pt')\n\n"
        "def draw(image):\n    image.save('rows.png')\n    torch.save(image, 'sums_of_rows.pt')\n\n"
        "torch.load('means_of_rows.pt').numpy()\n"
    )
    (call,) = calls_of(tmp_path, main=source)
    assert "bfloat16" in described(call.receiver)
    assert interpreted["keep"]
    assert not interpreted["draw"]


def test_a_loop_that_changes_nothing_has_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, spent = budget.Budget.count, Counter[str]()

    def counted(self: budget.Budget) -> None:
        spent["expressions"] += 1
        count(self)

    monkeypatch.setattr(budget.Budget, "count", counted)
    found = []
    for passes in ("while f():", "if f():"):
        spent.clear()
        calls_of(tmp_path, main=f"def g(x):\n    {passes}\n        x.numpy()\n")
        found.append(spent["expressions"])
    assert found[0] == found[1]


def test_what_nested_functions_close_over_is_freed_without_the_collector(tmp_path: Path) -> None:
    """It leads to the trees of modules, which take most of the memory."""
    source = (
        "def outer(kept_here):\n    def inner(z):\n        return kept_here + z\n"
        "    twice = lambda z: inner(inner(z))\n    class Holder:\n        def take(self, z):\n"
        "            return twice(z)\n    Holder().take(kept_here).numpy()\n\n"
        "outer(torch.zeros(2))\n"
    )
    gc.collect()
    gc.disable()
    try:
        assert calls_of(tmp_path, main=source)
        left = [one for one in gc.get_objects() if isinstance(one, Environment)]
    finally:
        gc.enable()
    assert not [env for env in left if "kept_here" in env]


@pytest.mark.parametrize(("rows", "is_looked_into"), [(50, True), (250, False)])
def test_a_long_table_of_a_followed_function_is_passed_over(
    rows: int, is_looked_into: bool, tmp_path: Path, interpreted: Counter[str]
) -> None:
    table = "".join(f"        'k{number}': made({number}),\n" for number in range(rows))
    source = (
        "def made(number):\n    return str(number)\n\ndef table():\n"
        f"    return {{\n{table}    }}\n\ntable()['k1'].numpy()\n"
    )
    assert calls_of(tmp_path, main=source)
    assert interpreted["table"]
    assert bool(interpreted["made"]) is is_looked_into
