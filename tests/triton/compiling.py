"""The oracle: the front end of the real compiler, which needs no GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

# Triton keeps state in the process and reads functions back from files: a process of its own.
_COMPILE_ALL = """
import importlib.util, json, sys

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

target = GPUTarget("cuda", 90, 32)
backend = make_backend(target)
options = backend.parse_options({})
modules, verdicts = {}, []
for number, job in enumerate(json.load(open(sys.argv[1]))):
    path = job["path"]
    if path not in modules:
        spec = importlib.util.spec_from_file_location(f"kernels_{number}", path)
        modules[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[path])
    kernel = getattr(modules[path], job["kernel"])
    constants = job["constants"]
    signature = {n: "constexpr" if n in constants else job["types"][n] for n in kernel.arg_names}
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    functions = backend.get_codegen_implementation(options)
    try:
        source.make_ir(target, options, functions, backend.get_module_map(), context)
    except Exception as error:
        chain = [error]
        while chain[-1].__cause__ is not None:  # an error in a helper comes with its cause
            chain.append(chain[-1].__cause__)
        verdicts.append(" / ".join(f"{type(e).__name__}: {e}" for e in chain))
    else:
        verdicts.append("")
json.dump(verdicts, sys.stdout)
"""


@dataclass(frozen=True)
class Job:
    """A kernel in a file, and the types or compile-time values of its parameters."""

    path: str
    kernel: str
    types: dict[str, str]
    constants: dict[str, object]


def verdicts(jobs: list[Job], folder: Path) -> list[str]:
    """What the compiler says of each job: nothing, or its error."""
    (folder / "jobs.json").write_text(json.dumps([asdict(job) for job in jobs]))
    script = folder / "compile_all.py"
    script.write_text(_COMPILE_ALL)
    environment = {
        **{name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"},
        "TRITON_CACHE_DIR": str(folder / "cache"),
        # Left unset, triton 3.9 warns that its default is about to change.
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    done = subprocess.run(
        [sys.executable, str(script), str(folder / "jobs.json")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)
