"""The Triton kernels, run by Triton's interpreter through the loss's own tests.

In a process of its own: TRITON_INTERPRET counts when triton is first imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")


def test_kernels_through_the_interpreter(tmp_path: Path) -> None:
    names = ("cross_entropy", "cross_entropy_properties", "linear_cross_entropy")
    suites = [str(Path(__file__).with_name(f"test_{name}.py")) for name in names]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *suites]
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
        "TRITON_INTERPRET": "1",
        "TRITON_CACHE_DIR": str(tmp_path),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
