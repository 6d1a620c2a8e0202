"""Which old settings of TF32 raise after which new ones: the whole table, measured."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from precision_lint.facts.amp.tf32 import OLD, RAISING

SCRIPT = """
import json, os, sys
import torch

found = []
for name, value, old in json.load(sys.stdin):
    child = os.fork()
    if not child:
        owner, _, attribute = name.rpartition(".")
        exec(f"{owner}.{attribute} = {value!r}")
        try:
            eval(old + "()" if "get_" in old else old)
        except RuntimeError as error:
            os._exit(3 if "mix of the legacy and new APIs" in str(error) else 4)
        os._exit(0)
    found.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="each case needs a process of its own")
def test_what_raises() -> None:
    names = sorted({name for name, _ in RAISING})
    cases = [(name, value, old) for name in names for value in ("tf32", "ieee") for old in OLD]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    raising = {
        tuple(case) for case, code in zip(cases, json.loads(done.stdout), strict=True) if code == 3
    }
    claimed = {(*key, old) for key, olds in RAISING.items() for old in olds}
    assert claimed <= raising
    assert {one for one in raising - claimed if one[:2] in RAISING} == set()


@pytest.mark.skipif(sys.platform != "linux", reason="the settings are those of a process")
def test_a_write_of_the_old_setting_is_allowed() -> None:
    script = (
        "import torch\n"
        "torch.backends.cuda.matmul.fp32_precision = 'tf32'\n"
        "torch.backends.cuda.matmul.allow_tf32 = True\n"
        "print(torch.backends.cuda.matmul.allow_tf32, torch.get_float32_matmul_precision())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True high\n"
