"""What calls change whose result nobody uses: modules that are cast, containers that grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

LINEAR = "model = nn.Linear(2, 2)\n"
IN_CLASS = "class A:\n    def __init__(self):\n"
CASTS = [
    ("alone", f"{LINEAR}model.bfloat16()\nmodel(x).numpy()\n", "bfloat16"),
    ("after eval", f"{LINEAR}model.eval().to(torch.bfloat16)\nmodel(x).numpy()\n", "bfloat16"),
    ("before eval", f"{LINEAR}model.to(torch.bfloat16).eval()\nmodel(x).numpy()\n", "bfloat16"),
    ("moved", f"{LINEAR}model.to('cpu').eval().cuda()\nmodel(x).numpy()\n", "float32"),
    (
        "cast back",
        f"{LINEAR}model.bfloat16()\nmodel.eval().float()\nmodel(x).numpy()\n",
        "float32",
    ),
    ("of a tensor", "x = torch.ones(2)\nx.cpu().bfloat16()\nx.numpy()\n", "float32"),
    (
        "of an attribute, seen by another method",
        f"{IN_CLASS}        self.model = nn.Linear(2, 2)\n"
        "        self.model.eval().to(dtype=torch.bfloat16)\n"
        "    def f(self, x):\n        self.model(x).numpy()\n",
        "bfloat16 chosen",
    ),
    (
        "of a module of the project, to one of two dtypes",
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.l = nn.Linear(2, 2)\n    def forward(self, x):\n        return self.l(x)\n"
        f"{IN_CLASS}        self.m = M()\n"
        "        self.m.to(torch.bfloat16 if half else torch.float32)\n"
        "    def f(self, x):\n        self.m(x).numpy()\n",
        "bfloat16 float32 chosen",
    ),
]


@pytest.mark.parametrize(
    ("source", "expected"), [case[1:] for case in CASTS], ids=[case[0] for case in CASTS]
)
def test_casts_in_place(source: str, expected: str, tmp_path: Path) -> None:
    assert described(last_call(tmp_path, main=source).receiver) == expected


METER = "class A:\n    def __init__(self):\n        self.d = {made}\n    def add(self, k, x):\n"
READ = "    def f(self):\n        for k, v in self.d.items():\n            torch.cat({v}).numpy()\n"
RUN = "A().add('a', torch.ones(2).bfloat16())\n"
CONTAINERS = [
    ("setdefault", "{}", "self.d.setdefault(k, []).append(x)", "v"),
    ("a list in a mapping", "{'a': []}", "self.d[k].append(x)", "v"),
    ("a mapping of mappings", "{'a': {'b': []}}", "self.d['a']['b'].append(x)", "v['b']"),
    ("an item of an item", "{'a': {}}", "self.d['a']['b'] = [x]", "v['b']"),
    ("added in place", "{'a': []}", "self.d[k] += [x]", "v"),
]


@pytest.mark.parametrize(
    ("made", "change", "value"), [case[1:] for case in CONTAINERS], ids=[c[0] for c in CONTAINERS]
)
def test_containers_of_attributes(made: str, change: str, value: str, tmp_path: Path) -> None:
    source = f"{METER.format(made=made)}        {change}\n{READ.format(v=value)}{RUN}"
    assert described(last_call(tmp_path, main=source).receiver) == "bfloat16"
