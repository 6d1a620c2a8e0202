"""Which words torch takes for the precision of float32 products."""

from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own: the settings are those of a process."""
    command = [sys.executable, "-W", "always", "-c", f"import torch\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_function_ignores_other_words() -> None:
    done = run(
        "torch.set_float32_matmul_precision('tf32')\n"
        "print(torch.get_float32_matmul_precision())\n"
        "torch.set_float32_matmul_precision('high')\n"
        "print(torch.get_float32_matmul_precision())\n"
    )
    assert done.returncode == 0
    assert "tf32 is not one of 'highest', 'high', or 'medium'" in done.stderr
    assert done.stdout.split() == ["highest", "high"]


def test_the_property_refuses_them() -> None:
    assert "Unknown precision: high" in run("torch.backends.fp32_precision = 'high'").stderr
    name = "torch.backends.cuda.matmul.fp32_precision"
    assert "does not support precision 'bf16'" in run(f"{name} = 'bf16'").stderr
    assert run(f"{name} = 'tf32'").returncode == 0
