"""The kernels compile to machine code for the GPUs they are meant for; no GPU is needed.

The interpreter checks no dtype consistency, so passing there says nothing about compiling.
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

# A process of its own, since this one may have imported triton to interpret.
COMPILE_ALL = """
import itertools, json, re, sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from precision_lint.runtime import cross_entropy_kernels as kernels
from precision_lint.runtime import cross_entropy_triton as launch

TARGETS = {
    "sm_80": GPUTarget("cuda", 80, 32),
    "sm_90": GPUTarget("cuda", 90, 32),
    "gfx942": GPUTarget("hip", "gfx942", 64),
}
TYPES = {
    **dict.fromkeys(["loss_ptr", "peak_ptr", "log_sum_ptr", "grad_loss_ptr"], "*fp32"),
    **dict.fromkeys(["n_classes", "ignore_index", "grad_loss_stride"], "i32"),
    **dict.fromkeys(["logits_row_stride", "grad_logits_row_stride"], "i32"),
    "target_ptr": "*i64",
}
KERNELS = {
    "forward": (kernels.forward_kernel, launch._block(128_256, launch.FORWARD_BLOCK)),
    "backward": (kernels.backward_kernel, launch._block(128_256, launch.BACKWARD_BLOCK)),
}
FLAGS = list(itertools.product([False, True], repeat=2))

# torch.compile passes Python floats as fp64; ints that equal 1 become constexpr.
variants = [
    (target, dtype, name, flags, "fp32")
    for target, dtype, name, flags in itertools.product(
        TARGETS, ["bf16", "fp16", "fp32"], KERNELS, FLAGS
    )
]
variants += [("sm_90", "bf16", name, (True, True), "fp64") for name in KERNELS]
variants += [("sm_90", "bf16", name, (True, True), 1) for name in KERNELS]

results = []
for target, dtype, name, (scaled, capped), scalar in variants:
    kernel, block = KERNELS[name]
    assert all(p.is_constexpr == p.name.isupper() for p in kernel.params), "a run-time flag"
    constants = {"HAS_SCALE": scaled, "HAS_SOFTCAP": capped, "BLOCK": block}
    types = {**TYPES, "logits_ptr": f"*{dtype}", "grad_logits_ptr": f"*{dtype}"}
    for factor in ("logit_scale", "softcap"):
        if scalar == 1:
            constants[factor] = 1
        else:
            types[factor] = scalar
    signature = {n: "constexpr" if n in constants else types[n] for n in kernel.arg_names}
    compiled = triton.compile(
        ASTSource(fn=kernel, signature=signature, constexprs=constants),
        target=TARGETS[target],
        options={"num_warps": launch._num_warps(block)},
    )
    binary = compiled.asm.get("cubin") or compiled.asm.get("hsaco")
    ptx, ttir = compiled.asm.get("ptx", ""), compiled.asm["ttir"]
    results.append({
        "variant": f"{target} {dtype} {name} scale={scaled} cap={capped} {scalar}",
        "bytes": len(binary or b""),
        "float64": re.findall(r"[\\w.]+\\.f64\\b", ptx),
        "half math": re.findall(r"(?:arith|math)\\.(?!extf|truncf|constant).*b?f16\\b.*", ttir),
        "row offsets": re.findall(r"tt\\.addptr %\\w*logits_ptr\\w*, .*", ttir),
    })
json.dump(results, sys.stdout)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    environment = {
        **{k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"},
        "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton")),
        # Left unset, triton 3.9 warns that its default is about to change.
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    script = Path(environment["TRITON_CACHE_DIR"]) / "compile_all.py"
    script.write_text(COMPILE_ALL)
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def test_every_variant_becomes_machine_code(compiled):
    assert len(compiled) == 3 * 3 * 2 * 4 + 4
    assert [c["variant"] for c in compiled if not c["bytes"]] == []


def test_float64_factors_are_narrowed_once(compiled):
    # More than the conversion would be float64 arithmetic: tens of times slower.
    used = {name for c in compiled for name in c["float64"]}
    assert used <= {"cvt.rn.f32.f64", "ld.param.f64", "ld.param.b64"}


def test_no_arithmetic_in_half_precision(compiled):
    assert [c["variant"] for c in compiled if c["half math"]] == []


def test_row_offsets_are_64_bit(compiled):
    for c in compiled:
        assert c["row offsets"], c["variant"]
        assert all(", i64" in line for line in c["row offsets"]), c
