"""What importing the package takes, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import cpu_time

pytest.importorskip("torch")


def run(code: str) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=cpu_time.HANG)
    assert done.returncode == 0, done.stderr
    return done.stdout


ABSENT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {%s}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""

USE = """
import torch
import precision_lint.runtime as runtime

x = torch.zeros(2, 4, requires_grad=True)
runtime.cross_entropy(x, torch.tensor([0, 1])).backward()
assert runtime.mask_value("bf16") < -1e38
assert not runtime.grad_scaler("bf16").is_enabled()
"""


def test_without_triton_and_without_the_linters_dependencies():
    run(ABSENT % "'triton', 'libcst', 'click', 'yaml', 'rich'" + USE)


def test_without_numpy():
    run(ABSENT % "'numpy'" + USE)


def test_import_brings_in_nothing_but_torch():
    # torch may import triton itself, so what is compared is the difference to `import torch`.
    out = run("""
import sys
import torch
before = {name.partition(".")[0] for name in sys.modules}
import precision_lint.runtime
after = {name.partition(".")[0] for name in sys.modules}
print(*sorted(after - before - set(sys.stdlib_module_names)))
print(*sorted(n for n in sys.modules if n.startswith("precision_lint.")))
""")
    new_packages, own_modules = (line.split() for line in out.splitlines())
    assert [n for n in new_packages if "editable" not in n] == ["precision_lint"]
    engine = [n for n in own_modules if not n.startswith("precision_lint.runtime")]
    assert set(engine) <= {"precision_lint.model", "precision_lint.model.version"}


def test_computing_a_loss_does_not_import_the_compiler():
    # `torch._dynamo` takes seconds, and a package whose first loss imports it costs every user.
    out = run(
        USE
        + """
import sys
print("torch._dynamo" in sys.modules)
"""
    )
    assert out.split() == ["False"]


def test_everything_public_is_there():
    from precision_lint import runtime

    assert all(callable(getattr(runtime, name)) for name in runtime.__all__)
