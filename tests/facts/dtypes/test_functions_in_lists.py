"""Functions that a program puts into lists and tables, and calls where it takes them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import calls_of, described

SHOW = "def show(v):\n    v.numpy()\ndef other(v):\n    print(v)\nhalf = torch.ones(2).bfloat16()\n"
CALLS = [
    ("a loop", "fs = [other, show]\nfor f in fs:\n    f({})\n"),
    ("a loop over a display", "for f in (other, show):\n    f({})\n"),
    ("an index", "fs = [other, show]\nfs[1]({})\n"),
    ("a table", "fs = {{'a': show, 'b': other}}\nfs['a']({})\n"),
    ("taken out", "fs = [show]\nf = fs[0]\nf({})\n"),
    ("appended", "fs = []\nfs.append(show)\nfor f in fs:\n    f({})\n"),
    ("chosen", "f = show if half.sum() > 0 else other\nf({})\n"),
]
IDS = [call[0] for call in CALLS]


@pytest.mark.parametrize("call", [call[1] for call in CALLS], ids=IDS)
@pytest.mark.parametrize("is_inside", [True, False])
@pytest.mark.parametrize(("given", "expected"), [("half", "bfloat16"), ("half.float()", "float32")])
def test_calls(call: str, is_inside: bool, given: str, expected: str, tmp_path: Path) -> None:
    code = call.format(given)
    if is_inside:
        code = "def main():\n" + "".join(f"    {line}\n" for line in code.splitlines()) + "main()\n"
    (found,) = calls_of(tmp_path, main=SHOW + code)
    assert described(found.receiver) == expected


def test_another_list(tmp_path: Path) -> None:
    main = f"{SHOW}wides, fs = [show], [other]\nfor f in fs:\n    f(half)\n"
    main += "for f in wides:\n    f(half.float())\n"
    (found,) = calls_of(tmp_path, main=main)
    assert "bfloat16" not in described(found.receiver)
