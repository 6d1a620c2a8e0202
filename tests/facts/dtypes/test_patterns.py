"""What the patterns of a `match` statement capture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

HEAD = """
from dataclasses import dataclass

@dataclass
class Out:
    first: torch.Tensor
    second: torch.Tensor

wide, half = torch.ones(2), torch.ones(2).bfloat16()
"""
PATTERNS = [
    ("a key", "{'a': t}", "{'a': half, 'b': wide}", "bfloat16"),
    ("another key", "{'b': t}", "{'a': half, 'b': wide}", "float32"),
    (
        "the rest",
        "{'b': _, **r} if (t := r['a']) is not None",
        "{'a': half, 'b': wide}",
        "bfloat16",
    ),
    (
        "the rest in float32",
        "{'a': _, **r} if (t := r['b']) is not None",
        "{'a': half, 'b': wide}",
        "float32",
    ),
    ("an item", "(t, _)", "(half, wide)", "bfloat16"),
    ("another item", "(_, t)", "(half, wide)", "float32"),
    ("before a star", "[t, *_]", "[half, wide, wide]", "bfloat16"),
    ("after a star", "[*_, t]", "[half, half, wide]", "float32"),
    ("a field", "Out(first=t)", "Out(half, wide)", "bfloat16"),
    ("another field", "Out(second=t)", "Out(half, wide)", "float32"),
    ("a field by position", "Out(_, t)", "Out(wide, half)", "bfloat16"),
    ("an alternative", "{'a': t} | {'b': t}", "{'b': half}", "bfloat16"),
    ("the whole", "torch.Tensor() as t", "half", "bfloat16"),
    ("nested", "{'a': (_, {'c': t})}", "{'a': (half, {'c': wide})}", "float32"),
]


@pytest.mark.parametrize(
    ("pattern", "value", "expected"), [case[1:] for case in PATTERNS], ids=[c[0] for c in PATTERNS]
)
@pytest.mark.parametrize("is_called", [True, False])
def test_patterns(pattern: str, value: str, expected: str, is_called: bool, tmp_path: Path) -> None:
    if is_called:
        body = f"    match v:\n        case {pattern}:\n            return t\n    raise TypeError\n"
        main = f"{HEAD}def f(v):\n{body}def main():\n    f({value}).numpy()\n"
    else:
        main = f"{HEAD}v = {value}\nmatch v:\n    case {pattern}:\n        t.numpy()\n"
    assert described(last_call(tmp_path, main=main).receiver) == expected


def test_a_case_of_another_kind(tmp_path: Path) -> None:
    main = (
        f"{HEAD}def f(v):\n    match v:\n        case (t, *_):\n            return t.bfloat16()\n"
        "        case {'a': t}:\n            return t\n    raise TypeError\n"
        "def main():\n    f({'a': wide}).numpy()\n"
    )
    assert described(last_call(tmp_path, main=main).receiver) == "float32"
