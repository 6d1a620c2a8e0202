"""The kernels compile to machine code for the GPUs they are meant for; no GPU is needed.

The interpreter checks no dtype consistency, so passing there says nothing about compiling. The
whole matrix is `benchmarks/cross_entropy_resources.py`; here every target and dtype meets all
options at once and none at all, and one target meets each option alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[2]

# A process of its own, since this one may have imported triton to interpret.
COMPILE = """
import json, re, sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

sys.path.insert(0, sys.argv[1])
import cross_entropy_resources as resources
from cross_entropy_resources import KERNELS, variants

for kernel, _ in KERNELS.values():
    assert all(p.is_constexpr == p.name.isupper() for p in kernel.params), "a run-time flag"

everything = list(variants(options=["all"], names=["forward", "gradient"]))
everything += variants(dtypes=["bf16"], options=["plain"], names=["forward", "gradient"])
everything += variants(dtypes=["bf16"], options=["all"], names=["partials", "combine"])
everything += variants(targets=["sm_90"], dtypes=["bf16"])
# A linear layer of half operands: its logits are float32, and their gradient is half again.
wide = list(variants(dtypes=["fp32"], options=["all"], names=["gradient"]))
everything += [replace(v, gradient=gradient) for v in wide for gradient in ("bf16", "fp16")]
# torch.compile passes Python floats as fp64; arguments that equal 1 become constexpr.
odd = list(variants(["sm_90"], ["bf16"], ["all"]))
everything += [replace(v, floats=floats) for v in odd for floats in ("fp64", 1)]


def measured(variant):
    done = resources.compiled(variant)
    ptx, ttir = done.asm.get("ptx", ""), done.asm["ttir"]
    half = r"(?:arith|math)\\.(?!extf|truncf|constant).*b?f16\\b.*"
    return {
        "variant": str(variant),
        "kernel": variant.kernel,
        "target": variant.target,
        "bytes": done.binary,
        "stack": done.stack,
        "spills": done.spills,
        "float64": re.findall(r"[\\w.]+\\.f64\\b", ptx),
        "half math": re.findall(half, ttir),
        "row offsets": re.findall(r"tt\\.addptr %\\w*logits_ptr\\w*, .*", ttir),
        "wide loads": "ld.global.v4.b32" in ptx or variant.floats == 1,  # rows of one class
    }


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        json.dump(list(pool.map(measured, dict.fromkeys(everything))), sys.stdout)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    folder = tmp_path_factory.mktemp("triton")
    environment = {
        **{k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"},
        "TRITON_CACHE_DIR": str(folder),
    }
    script = folder / "compile_kernels.py"
    script.write_text(COMPILE)
    command = [sys.executable, str(script), str(ROOT / "benchmarks")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def test_every_variant_becomes_machine_code(compiled):
    assert {c["target"] for c in compiled} == {
        *("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx942"),
    }
    assert {c["kernel"] for c in compiled} == {"forward", "partials", "combine", "gradient"}
    assert [c["variant"] for c in compiled if not c["bytes"]] == []


def test_nothing_is_spilled(compiled):
    assert [c for c in compiled if c["spills"] or c["stack"]] == []


def test_float64_factors_are_narrowed_once(compiled):
    # More than the conversion would be float64 arithmetic: tens of times slower.
    used = {name for c in compiled for name in c["float64"]}
    assert used <= {"cvt.rn.f32.f64", "ld.param.f64", "ld.param.b64"}
    assert "cvt.rn.f32.f64" in used


def test_no_arithmetic_in_half_precision(compiled):
    assert [c["variant"] for c in compiled if c["half math"]] == []


def test_row_offsets_are_64_bit(compiled):
    for c in compiled:
        if c["kernel"] == "combine":
            continue
        assert c["row offsets"], c["variant"]
        assert all(", i64" in line for line in c["row offsets"]), c


def test_logits_are_loaded_16_bytes_at_a_time(compiled):
    on_nvidia = [c for c in compiled if c["target"].startswith("sm_") and c["kernel"] != "combine"]
    assert [c["variant"] for c in on_nvidia if not c["wide loads"]] == []
