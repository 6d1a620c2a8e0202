"""Parameters with the default `None`: what a call certainly gives is not None."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

BODIES = {
    "an if": "    if dtype is None:\n        dtype = torch.bfloat16\n    return x.to(dtype)\n",
    "an if with else": (
        "    if dtype is not None:\n        return x.to(dtype)\n    return x.bfloat16()\n"
    ),
    "or": "    return x.to(dtype or torch.bfloat16)\n",
    "an expression": (
        "    dtype = torch.bfloat16 if dtype is None else dtype\n    return x.to(dtype)\n"
    ),
}
CALLS = [
    ("left out", "cast(x)", "bfloat16"),
    ("None", "cast(x, None)", "bfloat16"),
    ("a dtype", "cast(x, torch.float64)", "float64"),
    ("a dtype by name", "cast(x, dtype=torch.float64)", "float64"),
    ("the dtype of a tensor", "cast(x, x.dtype)", "float32"),
    ("a variable", "cast(x, wide)", "float64"),
    ("a variable that may be None", "cast(x, perhaps)", "bfloat16 float64"),
]
MAIN = (
    "def main(x: int, c):\n    x = torch.ones(2)\n    wide = torch.float64\n    perhaps = None\n"
    "    if c:\n        perhaps = torch.float64\n    {}.numpy()\n"
)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize(
    ("call", "expected"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS]
)
def test_what_a_call_gives(body: str, call: str, expected: str, tmp_path: Path) -> None:
    main = f"def cast(x, dtype=None):\n{body}{MAIN.format(call)}"
    assert described(last_call(tmp_path, main=main).receiver) == expected


ASSIGNED = [
    (
        "before the condition",
        "    dtype = other(dtype)\n    if dtype is None:\n        x = x.bfloat16()\n    return x\n",
    ),
    (
        "in a loop",
        "    for _ in range(3):\n        if dtype is None:\n            x = x.bfloat16()\n"
        "        dtype = None\n    return x\n",
    ),
]


@pytest.mark.parametrize("body", [case[1] for case in ASSIGNED], ids=[case[0] for case in ASSIGNED])
def test_a_parameter_that_is_assigned(body: str, tmp_path: Path) -> None:
    main = f"def cast(x, dtype=None):\n{body}{MAIN.format('cast(x, torch.float64)')}"
    assert described(last_call(tmp_path, main=main).receiver) == "bfloat16 float32"
