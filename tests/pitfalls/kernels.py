"""Compiles the kernel of a case with the installed Triton, which needs no GPU for that."""

from __future__ import annotations

from pathlib import Path

from tests.forking import forked

SECONDS = 60


def compiled(path: str, kernel: str, **parameters: object) -> str:
    """The code that the front end makes of a kernel.

    A parameter is given by its type as a string, such as `*bf16`, or by its compile-time value.

    Raises:
        RuntimeError: the compiler refuses the kernel; with what it says.
    """
    from triton.backends.compiler import GPUTarget

    from tests.facts.triton import compiling_worker

    types = {name: each for name, each in parameters.items() if isinstance(each, str)}
    constants = {name: each for name, each in parameters.items() if name not in types}

    def work() -> str:
        module = compiling_worker._imported(str(Path(path).resolve()), 0)
        target = GPUTarget("cuda", 90, 32)
        function = getattr(module, kernel)
        return compiling_worker._verdict(function, types, constants, target, "code")

    said = forked(work, SECONDS)
    if said is None or "tt.func" not in said:
        raise RuntimeError(said)
    return said
