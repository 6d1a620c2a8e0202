"""What context managers give and open, and what an exception holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

HELPERS = """
from contextlib import contextmanager, nullcontext

def precision(kind):
    if kind == "half":
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return nullcontext()

@contextmanager
def amp_region(dtype):
    with torch.autocast("cpu", dtype=dtype):
        yield

@contextmanager
def timed_context():
    yield

@contextmanager
def buffers(n):
    yield torch.zeros(n, dtype=torch.bfloat16), torch.zeros(n)

class Found(Exception):
    def __init__(self, value, wide):
        self.value, self.wide = value, wide

class Missing(Exception):
    def __init__(self, value):
        self.value = value

def search(x):
    raise Found(x.bfloat16(), x)

def miss(x):
    raise Missing(x)
"""
IMPORT = (
    "from contextlib import ExitStack\n"
    "from helpers import precision, amp_region, timed_context, buffers\n"
    "from helpers import Found, Missing, search, miss\n"
    "layer, x = nn.Linear(2, 2), torch.ones(2, 2)\n"
)
REGIONS = [
    ("precision('half')", "bfloat16"),
    ("precision('full')", "float32"),
    ("amp_region(torch.bfloat16)", "bfloat16"),
    ("amp_region(dtype=torch.float16)", "float16"),
    ("timed_context()", "float32"),
]


@pytest.mark.parametrize(("context", "expected"), REGIONS)
@pytest.mark.parametrize(
    "form",
    [
        "with {}:\n    y = layer(x)\n",
        "with torch.no_grad(), {}:\n    y = layer(x)\n",
        "with ExitStack() as stack:\n    stack.enter_context({})\n    y = layer(x)\n",
        "ctx = {}\nwith ctx:\n    y = layer(x)\n",
    ],
)
def test_regions(context: str, expected: str, form: str, tmp_path: Path) -> None:
    main = f"{IMPORT}{form.format(context)}y.numpy()\n"
    assert described(last_call(tmp_path, helpers=HELPERS, main=main).receiver) == expected


VALUES = [
    ("with buffers(2) as (a, b):\n    a.numpy()\n", "bfloat16"),
    ("with buffers(2) as (a, b):\n    b.numpy()\n", "float32"),
    ("with ExitStack() as s:\n    a, b = s.enter_context(buffers(2))\n    a.numpy()\n", "bfloat16"),
    ("with ExitStack() as s:\n    a, b = s.enter_context(buffers(2))\n    b.numpy()\n", "float32"),
    ("try:\n    search(x)\nexcept Found as found:\n    found.value.numpy()\n", "bfloat16"),
    ("try:\n    search(x)\nexcept Found as found:\n    found.wide.numpy()\n", "float32"),
    ("try:\n    miss(x)\nexcept Missing as found:\n    found.value.numpy()\n", "float32"),
    (
        "try:\n    miss(x)\nexcept (Missing, ValueError) as found:\n    found.value.numpy()\n",
        "Unknown",
    ),
]


@pytest.mark.parametrize(("code", "expected"), VALUES)
def test_values(code: str, expected: str, tmp_path: Path) -> None:
    main = f"{IMPORT}{code}"
    assert described(last_call(tmp_path, helpers=HELPERS, main=main).receiver) == expected
