"""What the cross-entropy kernels need of each GPU: registers, stack, spills, shared memory.

    python benchmarks/cross_entropy_resources.py [--out benchmarks/cross-entropy-resources.json]

Compiles every kernel to machine code for every target, dtype and set of options, and reads the
figures from the binaries; no GPU is needed. A spilled register lives in the stack frame (NVIDIA)
or the private segment (AMD), so a kernel without either has no spills. `--block` and `--warps`
compile other launch configurations than the default, to compare them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Left unset, triton 3.9 warns that its default is about to change.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from precision_lint.runtime import cross_entropy_kernels as kernels
from precision_lint.runtime import cross_entropy_triton as launches
from precision_lint.runtime.cross_entropy_triton import Launch

CLASSES = 128_256

TARGETS = {
    **{f"sm_{arch}": GPUTarget("cuda", arch, 32) for arch in (75, 80, 86, 90, 100, 120)},
    "gfx90a": GPUTarget("hip", "gfx90a", 64),
    "gfx942": GPUTarget("hip", "gfx942", 64),
}
DTYPES = ("bf16", "fp16", "fp32")

# Flags that are set; a kernel ignores those that it does not have.
OPTIONS = {
    "plain": (),
    "scale": ("HAS_SCALE",),
    "softcap": ("HAS_SOFTCAP",),
    "weight": ("HAS_WEIGHT",),
    "smoothing": ("HAS_SMOOTHING",),
    "argmax": ("HAS_ARGMAX",),
    "lse": ("HAS_GRAD_LSE",),
    "all": (
        *("HAS_SCALE", "HAS_SOFTCAP", "HAS_WEIGHT", "HAS_SMOOTHING", "HAS_ARGMAX"),
        "HAS_GRAD_LSE",
    ),
}
KERNELS = {
    "forward": (kernels.forward_kernel, launches.forward_launch),
    "partials": (kernels.partials_kernel, launches.forward_launch),
    "combine": (kernels.combine_kernel, lambda classes: launches.COMBINE),
    "gradient": (kernels.gradient_kernel, launches.gradient_launch),
}

_FLOATS = ("logit_scale", "softcap", "label_smoothing")
_LABELS = ("target_ptr", "argmax_ptr")
# Divisible by 16 in practice; Triton then loads 16 bytes at a time.
_SIZES = ("logits_row_stride", "out_row_stride", "n_classes", "vocabulary")


@dataclass(frozen=True)
class Variant:
    """One kernel with all its compile-time choices."""

    target: str
    dtype: str
    kernel: str
    options: str
    launch: Launch
    gradient: str = ""  # its dtype, where it is not that of the logits
    floats: str | int = "fp32"  # type of the float arguments; 1 compiles in floats, sizes, strides


@dataclass(frozen=True)
class Resources:
    """Of a thread: registers, bytes of stack, and spills; of a block: bytes of shared memory.

    Spills are instructions that access the stack (NVIDIA), or registers kept there (AMD).
    """

    registers: int
    stack: int
    spills: int
    shared: int
    binary: int
    asm: dict[str, Any] = field(repr=False)


def variants(
    targets: Sequence[str] = tuple(TARGETS),
    dtypes: Sequence[str] = DTYPES,
    options: Sequence[str] = tuple(OPTIONS),
    names: Sequence[str] = tuple(KERNELS),
) -> Iterator[Variant]:
    """Every combination once: options that a kernel lacks, and dtypes of none, are left out."""
    for target, name, option, dtype in itertools.product(targets, names, options, dtypes):
        kernel, launch = KERNELS[name]
        if not set(OPTIONS[option]) <= set(kernel.arg_names) and option != "all":
            continue
        if "logits_ptr" not in kernel.arg_names and dtype != dtypes[0]:
            continue
        yield Variant(target, dtype, name, option, launch(CLASSES))


def compiled(variant: Variant) -> Resources:
    """The variant's machine code, measured."""
    kernel, _ = KERNELS[variant.kernel]
    flags = set(OPTIONS[variant.options]) | {"HAS_GRAD_LOSSES"}
    constants: dict[str, Any] = {
        name: name in flags for name in kernel.arg_names if name.startswith("HAS_")
    }
    if "BLOCK" in kernel.arg_names:
        constants["BLOCK"] = variant.launch.block
    for pointer, flag in (
        *(("weight_ptr", "HAS_WEIGHT"), ("grad_lse_ptr", "HAS_GRAD_LSE")),
        ("argmax_ptr", "HAS_ARGMAX"),
    ):
        if pointer in kernel.arg_names and not constants.get(flag):
            constants[pointer] = None
    if not isinstance(variant.floats, str):
        known = {*_FLOATS, *_SIZES} & set(kernel.arg_names)
        constants.update(dict.fromkeys(known, variant.floats))
    signature = {name: _type(name, variant) for name in kernel.arg_names}
    signature.update(dict.fromkeys(constants, "constexpr"))
    aligned = [
        (i,)
        for i, name in enumerate(kernel.arg_names)
        if name not in constants and (name.endswith("_ptr") or name in _SIZES)
    ]
    done = triton.compile(
        ASTSource(
            fn=kernel,
            signature=signature,
            constexprs=constants,
            attrs={position: [["tt.divisibility", 16]] for position in aligned},
        ),
        target=TARGETS[variant.target],
        options={"num_warps": variant.launch.num_warps},
    )
    figures = _of_amd(done.asm) if "hsaco" in done.asm else _of_nvidia(done.asm["cubin"])
    return Resources(**figures, shared=done.metadata.shared, asm=dict(done.asm))


def _type(name: str, variant: Variant) -> str:
    if name in _FLOATS:
        return str(variant.floats)
    if not name.endswith("_ptr"):
        return "i32"
    if name in _LABELS:
        return "*i64"
    if name == "out_ptr":
        return f"*{variant.gradient or variant.dtype}"
    return f"*{variant.dtype}" if name == "logits_ptr" else "*fp32"


def _of_nvidia(cubin: bytes) -> dict[str, int]:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
        dump = partial(subprocess.run, capture_output=True, text=True, check=True)
        text = dump([str(tool), "--dump-resource-usage", file.name]).stdout
        usage = dict(re.findall(r"(\w+):(\d+)", text[text.index("Function") :]))
        stack = int(usage["STACK"]) + int(usage["LOCAL"])
        # Disassembling takes as long as compiling, and an empty frame holds nothing.
        sass = dump([str(tool), "--dump-sass", file.name]).stdout if stack else ""
    return {
        "registers": int(usage["REG"]),
        "stack": stack,
        "spills": len(re.findall(r"\b(?:STL|LDL)\b", sass)),
        "binary": len(cubin),
    }


def _of_amd(asm: dict[str, Any]) -> dict[str, int]:
    notes = dict(re.findall(r"\.(\w+):\s*(\d+)$", asm["amdgcn"], re.MULTILINE))
    return {
        "registers": int(notes["vgpr_count"]),
        "stack": int(notes["private_segment_fixed_size"]),
        "spills": int(notes["vgpr_spill_count"]) + int(notes["sgpr_spill_count"]),
        "binary": len(asm["hsaco"]),
    }


def _row(variant: Variant) -> dict[str, Any]:
    figures = asdict(compiled(variant))
    del figures["asm"]
    return {
        "target": variant.target,
        "dtype": variant.dtype,
        "kernel": variant.kernel,
        "options": variant.options,
        **asdict(variant.launch),
        **figures,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Compiles, prints the extremes per target and kernel, and writes the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = partial(parser.add_argument, nargs="+")
    names("--targets", choices=TARGETS, default=list(TARGETS))
    names("--dtypes", choices=DTYPES, default=list(DTYPES))
    names("--options", choices=OPTIONS, default=list(OPTIONS))
    names("--kernels", choices=KERNELS, default=list(KERNELS))
    names("--block", type=int)
    names("--warps", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args(arguments)
    todo = list(variants(chosen.targets, chosen.dtypes, chosen.options, chosen.kernels))
    if chosen.block or chosen.warps:
        todo = [
            Variant(v.target, v.dtype, v.kernel, v.options, Launch(block, warps))
            for v in todo
            for block in chosen.block or [v.launch.block]
            for warps in chosen.warps or [v.launch.num_warps]
        ]
    with ProcessPoolExecutor(chosen.jobs) as pool:
        rows = list(pool.map(_row, todo))
    _print(rows)
    if chosen.out:
        document = {
            "date": date.today().isoformat(),
            "triton": version("triton"),
            "classes": CLASSES,
            "variants": len(rows),
            "rows": rows,
        }
        lines = json.dumps(document, indent=1)
        # One line per row.
        lines = re.sub(r"\{\s+\"target\"[^}]*\}", lambda m: re.sub(r"\s+", " ", m[0]), lines)
        chosen.out.write_text(lines + "\n")


def _print(rows: list[dict[str, Any]]) -> None:
    print("target  kernel    block warps  registers  stack  spills  shared  variants")

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["target"], row["kernel"], row["block"], row["num_warps"]

    for group, members in itertools.groupby(sorted(rows, key=key), key):
        found = list(members)
        registers = [row["registers"] for row in found]
        stack, spills, shared = (max(r[k] for r in found) for k in ("stack", "spills", "shared"))
        print(
            "{:7} {:9} {:5} {:5}".format(*group),
            f"  {min(registers):3}..{max(registers):3}  {stack:6} {spills:7} {shared:7} "
            f"{len(found):9}",
        )


if __name__ == "__main__":
    sys.exit(main())
