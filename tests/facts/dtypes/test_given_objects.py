"""What callers give: results of their objects, tensors that a test finds, objects of subclasses."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.dtypes.domain.values import Tensor
from tests.facts.dtypes.following import described, last_call

WRAPPER = (
    "class Wrapper(nn.Module):\n    def __init__(self, base):\n        super().__init__()\n"
    "        self.base = base\n    def forward(self, x):\n        return self.base(x)\n"
)
MADE = (
    "    @classmethod\n    def load(cls, dtype):\n        return cls(nn.Linear(2, 2).to(dtype))\n"
)
USE = "def use(model, x):\n    return model(x).numpy()\n"
SUB = "class Sub(Wrapper):\n"
BASE = (
    "class Base:\n    def __init__(self, dtype):\n        self.dtype = dtype\n        self.load()\n"
    "    def run(self, x):\n        return self.step(x).numpy()\n"
)
LOADING = "    def load(self):\n        self.net = nn.Linear(2, 2).to(self.dtype)\n"
STEP = "    def step(self, x):\n        return self.net(x)\n"
LEAF = f"class Leaf(Base):\n{LOADING}{STEP}"
KNOWN = "class Alpha:\n    def __init__(self, alpha=1):\n        if {test}:\n"
CONVERTED = "            alpha = alpha.detach().numpy()\n"
HOLDER = "class Holder:\n    def __init__(self, alpha=1):\n        Alpha(alpha)\n"
METER = "class Meter:\n    def __init__(self):\n        self.sum = {start}\n"
UPDATE = "    def update(self, x):\n        self.sum {change}\n"
READ = "m = Meter()\nm.update({given})\nm.sum.numpy()\n"
HALF, SINGLE = "torch.bfloat16", "torch.float32"


@pytest.mark.parametrize(("dtype", "expected"), [(HALF, "bfloat16"), (SINGLE, "float32")])
@pytest.mark.parametrize(
    "source",
    [
        f"{WRAPPER}{MADE}m = Wrapper.load({{dtype}})\nuse(m, None)\n{USE}",
        f"{WRAPPER}{SUB}{MADE}use(Sub.load({{dtype}}), None)\n{USE}",
        f"{BASE}{LEAF}Leaf({{dtype}}).run(None)\n",
    ],
    ids=["given to a function", "made by a subclass", "a method that a subclass defines"],
)
def test_results_of_objects(source: str, dtype: str, expected: str, tmp_path: Path) -> None:
    receiver = last_call(tmp_path, main=source.format(dtype=dtype)).receiver
    assert expected in described(receiver.tensor if described(receiver) == "output" else receiver)


@pytest.mark.parametrize("test", ["type(alpha) == torch.Tensor", "isinstance(alpha, torch.Tensor)"])
def test_of_what_callers_give_a_test_finds_the_tensor(test: str, tmp_path: Path) -> None:
    holding = f"{KNOWN.format(test=test)}{CONVERTED}{HOLDER}"
    weights = f"{LOADED}m = AutoModel.from_pretrained('a', dtype='auto')\nHolder({{given}})\n"
    source = holding + weights.format(given="m.head.weight if x else 1")
    assert described(last_call(tmp_path, main=source).receiver) == "chosen"
    data = "d = torch.load('a.pt')\nHolder(d['alpha'] if 'alpha' in d else d['rank'].size()[0])\n"
    receiver = last_call(tmp_path, main=holding + data).receiver
    assert described(receiver) == "chosen partial"  # what else it may be can be a tensor, too


@pytest.mark.parametrize("test", ["type(alpha) == torch.Tensor", "isinstance(alpha, torch.Tensor)"])
def test_what_callers_give_besides_no_tensor_is_no_way(test: str, tmp_path: Path) -> None:
    source = f"{KNOWN.format(test=test)}{CONVERTED}{HOLDER}Holder(1)\n"
    assert "bfloat16" not in described(last_call(tmp_path, main=source).receiver)


@pytest.mark.parametrize("change", ["+= x", "+= x * 2", "= self.sum + x"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [("torch.ones(2).bfloat16()", "bfloat16"), ("torch.ones(2)", "float32")],
)
def test_sums_of_what_callers_give(change: str, given: str, expected: str, tmp_path: Path) -> None:
    source = METER.format(start=0) + UPDATE.format(change=change) + READ.format(given=given)
    dtypes = described(last_call(tmp_path, main=source).receiver).split()
    assert [name for name in dtypes if "float" in name] == [expected]


def test_eval_shows_that_what_was_cast_is_a_module(tmp_path: Path) -> None:
    source = "def f(build, x):\n    it = build().cuda().to(torch.bfloat16).eval()\n"
    receiver = last_call(tmp_path, main=f"{source}    it.decode(x).numpy()\n").receiver
    assert described(receiver) == "bfloat16 partial"


CONTEXT = "with context():\n    y = nn.Linear(2, 2)(x)\ny.numpy()\n"
LIBRARY = "from contextlib import nullcontext, suppress\nfrom functools import partial\n"
ONE_OF_SEVERAL = [
    (
        "regions",
        f"{LIBRARY}context = suppress\nif amp:\n"
        f"    context = partial(torch.autocast, 'cuda', dtype=torch.bfloat16)\n{CONTEXT}",
        "bfloat16 chosen",
    ),
    ("no region", f"{LIBRARY}context = suppress if a else nullcontext\n{CONTEXT}", "float32"),
    (
        "functions of torch",
        "f = F.gelu if a else torch.relu\nf(torch.ones(2).bfloat16()).numpy()\n",
        "bfloat16",
    ),
    (
        "one of the project",
        "def f(x):\n    return x.float()\nf = f if a else torch.relu\n"
        "f(torch.ones(2).bfloat16()).numpy()\n",
        "bfloat16 float32",
    ),
]


@pytest.mark.parametrize(
    ("source", "expected"),
    [each[1:] for each in ONE_OF_SEVERAL],
    ids=[e[0] for e in ONE_OF_SEVERAL],
)
def test_one_of_several_functions(source: str, expected: str, tmp_path: Path) -> None:
    assert described(last_call(tmp_path, main=source).receiver) == expected


LOADED = "from transformers import AutoModel\n"
LOAD = (
    "def load(path, dtype='{default}'):\n"
    "    model = AutoModel.from_pretrained(path, torch_dtype={dtype})\n"
)
EMBEDDED = "    model(path).last_hidden_state.numpy()\n"


@pytest.mark.parametrize("dtype", ["dtype", "getattr(torch, dtype)"])
@pytest.mark.parametrize(
    ("default", "call", "expected"),
    [
        ("bfloat16", "load('x')", True),
        ("float32", "load('x', 'bfloat16')", True),
        ("float32", "load('x', 'float16')", False),
        ("float32", "load('x', 'bfloat16')\nload('y', 'float32')", True),
        ("bfloat16", "load('x', dtype='float32')", False),
    ],
)
def test_names_of_dtypes_that_calls_give(
    default: str, call: str, dtype: str, expected: bool, tmp_path: Path
) -> None:
    source = LOADED + LOAD.format(default=default, dtype=dtype) + EMBEDDED + f"{call}\n"
    tensor = last_call(tmp_path, main=source).receiver
    assert isinstance(tensor, Tensor)
    assert ("bfloat16" in tensor.dtypes) is expected
    assert not expected or (tensor.origin is not None and tensor.origin.kind == "dtype")


HASHED = (
    "def emit(obj):\n    if isinstance(obj, dict):\n"
    "        for k in obj:\n            emit(obj[k])\n"
    "    elif isinstance(obj, (list, tuple)):\n        for each in obj:\n            emit(each)\n"
    "    elif isinstance(obj, torch.Tensor):\n        obj.detach().numpy()\n"
)


@pytest.mark.parametrize(("dtype", "expected"), [(HALF, True), (SINGLE, False)])
def test_a_function_that_calls_itself_for_items(dtype: str, expected: bool, tmp_path: Path) -> None:
    given = f"emit({{'a': [torch.ones(2, dtype={dtype})], 'b': 1}})\n"
    receiver = last_call(tmp_path, main=HASHED + given).receiver
    assert ("bfloat16" in described(receiver).split()) is expected
