"""Compiles kernels with the Triton of whatever interpreter runs this file; stands alone.

    python compiling_worker.py JOBS VERDICTS

VERDICTS gets one line of JSON for each job of JOBS, as soon as it is known, after those that are
there: older versions of Triton abort the process on some kernels. It is the error, or nothing; for
a job that wants code, the code that the front end generates. Machine code is only asked for.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend


def main(jobs: Path, verdicts: Path) -> None:
    """Compile what has no verdict yet."""
    target = GPUTarget("cuda", 90, 32)
    modules: dict[str, ModuleType] = {}
    with verdicts.open("a+") as lines:
        lines.seek(0)
        done = len(lines.readlines())
        for job in json.loads(jobs.read_text())[done:]:
            path = job["path"]
            if path not in modules:
                modules[path] = _imported(path, len(modules))
            kernel = getattr(modules[path], job["kernel"])
            verdict = _verdict(kernel, job["types"], job["constants"], target, job["wants"])
            lines.write(json.dumps(verdict) + "\n")
            lines.flush()


def _imported(path: str, number: int) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"kernels_{number}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _verdict(
    kernel: Any,
    types: dict[str, str],
    constants: dict[str, object],
    target: GPUTarget,
    wants: str,
) -> str:
    try:
        module = _front_end(kernel, types, constants, target)
        if wants == "machine code":
            triton.compile(_source(kernel, types, constants), target=target)
    except Exception as error:
        chain: list[BaseException] = [error]
        while chain[-1].__cause__ is not None:  # an error in a helper comes with its cause
            chain.append(chain[-1].__cause__)
        return " / ".join(f"{type(e).__name__}: {e}" for e in chain)
    # Newer versions do so themselves.
    if not module.verify():
        return "the generated code is not valid"
    return str(module) if wants == "code" else ""


def _front_end(
    kernel: Any, types: dict[str, str], constants: dict[str, object], target: GPUTarget
) -> Any:
    backend = make_backend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = _source(kernel, types, constants)
    # Each version asks for more than the one before: 3.1 for three of these, 3.9 for all.
    generation = backend.get_codegen_implementation
    available = {
        "target": target,
        "options": options,
        "codegen_fns": generation(*[options for _ in inspect.signature(generation).parameters]),
        "module_map": getattr(backend, "get_module_map", dict)(),
        "context": context,
    }
    return source.make_ir(*[available[n] for n in inspect.signature(source.make_ir).parameters])


def _source(kernel: Any, types: dict[str, str], constants: dict[str, object]) -> ASTSource:
    signature = {n: "constexpr" if n in constants else types[n] for n in kernel.arg_names}
    return ASTSource(kernel, signature, constants)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
