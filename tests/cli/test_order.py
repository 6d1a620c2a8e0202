"""P10: what is said depends on no order: of paths, of processes, of folders, of hash seeds."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import BAD, BROKEN, CLEAN, CONFIG, SCALER, project, run

SCRIPT = Path(sys.executable).with_name("precision-lint")
CALLER = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.numpy()\n"


KINDS = {"bad": BAD, "scaler": SCALER, "f": CALLER, "ok": CLEAN}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {f"m{number}/{name}.py": text for number in range(6) for name, text in KINDS.items()}
    files |= {"train.yaml": CONFIG, "broken.py": BROKEN}
    files["large.py"] = "# enough to start worker processes\n" * 40_000
    return project(tmp_path, files)


@pytest.mark.parametrize("arguments", [["--output-format", "json"], [], ["--diff"]], ids=str)
def test_any_number_of_processes(arguments: list[str], root: Path) -> None:
    one, *more = [run("-j", jobs, *arguments, cwd=root) for jobs in ("1", "2", "4")]
    assert len(one.stdout) > 1000
    assert more == [one, one]


def test_fixes_with_any_number_of_processes(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.py")}
    results = []
    for jobs in ("1", "2", "4"):
        ran = run("-j", jobs, "--fix", cwd=root)
        results.append((ran, {path: path.read_bytes() for path in before}))
        for path, content in before.items():
            path.write_bytes(content)
    assert " fixed, " in results[0][0].out
    assert any(content != before[path] for path, content in results[0][1].items())
    assert results[1:] == results[:1] * 2


def test_any_order_of_paths(root: Path) -> None:
    names = ["m0", "m1/bad.py", "m1", "train.yaml"]
    runs = {run(*order, cwd=root).stdout for order in itertools.permutations(names)}
    assert len(runs) == 1


def test_a_file_that_is_named_twice_is_read_once(root: Path) -> None:
    once = run("m0/bad.py", cwd=root)
    assert run("m0/bad.py", "./m0/bad.py", root / "m0/bad.py", "m0/../m0/bad.py", cwd=root) == once


def test_links_to_a_file_do_not_depend_on_order(root: Path) -> None:
    (root / "z.py").symlink_to("m0/bad.py")
    (root / "b.py").symlink_to("m0/bad.py")
    (root / "linked").symlink_to("m0", target_is_directory=True)
    names = ["z.py", "b.py", "m0/bad.py", "linked/bad.py"]
    orders = [order for size in (1, 2, 3, 4) for order in itertools.permutations(names, size)]
    for order in orders:
        shown = run("--show-files", *order, cwd=root).out
        assert shown == run("--show-files", *sorted(order), cwd=root).out
        assert len(shown.splitlines()) == 1
        if "m0/bad.py" in order:
            assert shown.endswith("/m0/bad.py\n")


KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(p, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for i in range(n):
        a = tl.load(p + o)
        b = tl.load(p + o)
        c = tl.load(p + o)
        tl.store(p + o, a + b + c)


def run(x):
    kernel[(1,)](x.bfloat16(), 4, 64)
"""


def test_any_hash_seed(root: Path) -> None:
    (root / "kernel.py").write_text(KERNEL)
    outputs = {
        subprocess.run(
            [SCRIPT, "--output-format", "json"],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        ).stdout
        for seed in "0123"
    }
    assert len(outputs) == 1
